// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// Runs filters one after the other, each on a thread of its own.
final class FilterQueue: Sendable {
    /// Ends when no filter is left.
    private let last = Mutex(Task {})
    private let isOver = Atomic(false)

    /// Adds a filter, from any thread; it is told that all is over after `shutDown`, and where no
    /// thread is left.
    func add(_ job: @escaping @Sendable (_ isOver: () -> Bool) -> Void) {
        last.withLock { last in
            last = Task { [self, before = last] in
                await before.value
                let body: @Sendable () -> Void = { [self] in
                    job { isOver.load(ordering: .relaxed) }
                }
                // Without a thread no filter runs.
                let ended = try? await NamedThread.result(name: "filter", of: body)
                if ended == nil { job { true } }
            }
        }
    }

    /// Ends the filter that runs; those that wait do not run.
    func shutDown() { isOver.store(true, ordering: .relaxed) }
}
