// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// The thread that waits for the disk, so that no other has to.
///
/// It makes growing journals durable every 200 ms, those first that have waited longest, and
/// carries out jobs that block on the disk (a manifest, a removal), in order. Jobs and journals
/// take turns, so that many of the ones never keep the others waiting.
package final class SyncLoop: Sendable {
    private let loop: WorkerLoop<SyncWorker>

    /// Starts the thread.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    package init() throws(SystemError) { loop = try WorkerLoop(name: "sync") { SyncWorker() } }

    /// Makes a journal durable every 200 ms until it is sealed and durable.
    ///
    /// From any thread.
    ///
    /// - Parameters:
    ///   - journal: grows, or is sealed.
    ///   - onChange: called on the sync thread when the journal's condition has changed, and when
    ///     it is settled.
    package func add(_ journal: Journal, onChange: @escaping @Sendable () -> Void = {}) {
        loop.send(.tend(SyncWorker.Entry(journal: journal, onChange: onChange)))
    }

    /// Carries out a job after those that were given before, unless the loop has been shut down.
    ///
    /// From any thread.
    package func perform(_ job: @escaping @Sendable () -> Void) { loop.send(.perform(job)) }

    /// Carries out what was given before, ends the thread and waits for it.
    package func shutDown() { loop.shutDown() }
}
