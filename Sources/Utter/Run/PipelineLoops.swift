// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import LinuxPlatform
internal import TakeStore
internal import Upload

/// The threads of a pipeline.
final class PipelineLoops: Sendable {
    let capture: CaptureLoop
    let journal: JournalLoop
    let transfer: TransferLoop
    let sync: SyncLoop

    /// Starts the threads.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    init() throws(SystemError) {
        let growth = try Wakeup()
        let journal = try JournalLoop(onAppend: { growth.signal() })
        self.journal = journal
        capture = try CaptureLoop(onWrite: { journal.wake() })
        sync = try SyncLoop()
        transfer = try TransferLoop(wokenBy: growth)
    }

    /// Ends the threads and waits for them, the disk included.
    func shutDown() {
        capture.shutDown()
        transfer.shutDown()
        journal.shutDown()
        sync.shutDown()
    }
}
