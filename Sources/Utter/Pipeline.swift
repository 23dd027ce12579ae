// SPDX-License-Identifier: Apache-2.0

internal import AudioCapture
internal import ChunkedUpload
public import LinuxPlatform
internal import TakeStore

/// The loops that carry any number of takes: capture, journal, transfer, and sync beside them.
///
/// This is the composition root: `start` joins the stages of one take in the order in which
/// its samples meet them.
public final class Pipeline: Sendable {
    let capture: CaptureLoop
    let journal: JournalLoop
    let transfer: TransferLoop
    let sync: SyncLoop
    let store: Result<TakeStore, TakeStoreError>

    /// Starts the loops.
    ///
    /// - Parameter stateFolder: where takes are kept, an absolute path; when it cannot be used,
    ///   takes live in memory and say so.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    public init(stateFolder: String) throws(SystemError) {
        let transfer = try TransferLoop()
        let journal = try JournalLoop(onAppend: { transfer.wake() })
        capture = try CaptureLoop(onWrite: { journal.wake() })
        sync = try SyncLoop()
        self.journal = journal
        self.transfer = transfer
        store = Result { () throws(TakeStoreError) in try TakeStore(stateFolder: stateFolder) }
    }

    /// Starts a take: the source is opened at once, in parallel with the connection.
    ///
    /// From any thread; does not block. What goes wrong is the take's outcome.
    public func start(_ plan: TakePlan) -> Take {
        let run = TakeRun(plan: plan, pipeline: self)
        run.begin()
        return Take(run: run)
    }

    /// Ends the loops and waits for them, the disk included. Takes that still run are abandoned
    /// where they are; what they captured stays in their journals.
    public func shutDown() {
        capture.shutDown()
        transfer.shutDown()
        journal.shutDown()
        sync.shutDown()
    }
}
