// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// The thread that reads every source and fills every ring, for any number of takes.
///
/// It waits in one `poll(2)` for sound cards, pipes and pacing timers. While takes run it takes
/// no lock. Opening a source may take seconds; each is opened by a short-lived thread of its own,
/// which then hands it over.
package final class CaptureLoop: Sendable {
    private let loop: WorkerLoop<CaptureWorker>

    /// Starts the thread.
    ///
    /// - Parameter onWrite: called on the capture thread after a turn in which a ring was given
    ///   bytes or its end; must not block.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    package init(onWrite: @escaping @Sendable () -> Void) throws(SystemError) {
        loop = try WorkerLoop(name: "capture") { CaptureWorker(onWrite: onWrite) }
    }

    /// Takes a take on; its source is opened at once.
    ///
    /// From any thread; does not wait for the source.
    package func add(_ stage: sending CaptureStage) {
        let opening = stage.opening
        loop.send(stage)
        opening.begin { [loop] in loop.wake() }
    }

    /// Makes the loop look at every take's control, and at the rings that it waits for.
    ///
    /// From any thread; never blocks.
    package func wake() { loop.wake() }

    /// Ends the thread and waits for it; takes that still run are abandoned.
    package func shutDown() { loop.shutDown() }
}
