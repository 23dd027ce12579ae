// SPDX-License-Identifier: Apache-2.0

internal import AudioCapture
internal import ChunkedUpload
public import LinuxPlatform
internal import TakeStore

/// The threads of a pipeline, before it is known where takes are kept.
///
/// Started early by a program that has something to read first: the transfer loop loads libcurl
/// meanwhile.
public final class PipelineLoops: Sendable {
    let capture: CaptureLoop
    let journal: JournalLoop
    let transfer: TransferLoop
    let sync: SyncLoop

    /// Loads libcurl on the calling thread, for a program that has nothing to record meanwhile.
    ///
    /// In a process with one thread that takes half as long: nobody has to be told of each change
    /// to a page table. Blocks on the disk, the first time after the machine has started.
    public static func loadLibrary() { TransferLoop.loadLibrary() }

    /// Starts the threads.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    public init() throws(SystemError) {
        let growth = try Wakeup()
        let journal = try JournalLoop(onAppend: { growth.signal() })
        self.journal = journal
        capture = try CaptureLoop(onWrite: { journal.wake() })
        sync = try SyncLoop()
        // Last: no thread can be started while libcurl is being loaded.
        transfer = try TransferLoop(wokenBy: growth)
    }

    /// Ends the threads and waits for them, the disk included.
    public func shutDown() {
        capture.shutDown()
        transfer.shutDown()
        journal.shutDown()
        sync.shutDown()
    }
}
