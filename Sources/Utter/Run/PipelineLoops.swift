// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import LinuxPlatform
internal import TakeStore
internal import Upload

/// The threads of a pipeline.
final class PipelineLoops: Sendable {
    let capture: CaptureLoop
    let journal: JournalLoop
    let transfer: any Transport
    let sync: SyncLoop

    /// Makes what carries requests, and is woken when a journal has grown.
    typealias TransportMaker = (Wakeup) throws(SystemError) -> any Transport

    /// Starts the threads.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    init(transport: TransportMaker) throws(SystemError) {
        let growth = try Wakeup()
        let journal = try JournalLoop(onAppend: { growth.signal() })
        self.journal = journal
        capture = try CaptureLoop(onWrite: { journal.wake() })
        sync = try SyncLoop()
        transfer = try transport(growth)
    }

    /// Ends the threads and waits for them, the disk included.
    func shutDown() {
        capture.shutDown()
        transfer.shutDown()
        journal.shutDown()
        sync.shutDown()
    }
}
