// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// Runs filters one after the other, on a thread that ends when none waits.
final class FilterQueue: Sendable {
    private struct State {
        var jobs: [@Sendable (_ isOver: () -> Bool) -> Void] = []
        var isRunning = false
        var isOver = false
    }

    private let state = Mutex(State())

    /// Adds a filter, from any thread.
    ///
    /// Does not block. After `shutDown`, and where no thread is left, the job is called at once, and told
    /// that all is over.
    func add(_ job: @escaping @Sendable (_ isOver: () -> Bool) -> Void) {
        let isFirst = state.withLock { state -> Bool? in
            guard !state.isOver else { return nil }
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst != false else { return }
        // Without a thread no filter runs.
        let thread = isFirst == true ? try? NamedThread(name: "filter") { [self] in work() } : nil
        guard thread == nil else { return }
        let left = state.withLock { state in
            state.isRunning = false
            return isFirst == nil ? [job] : exchange(&state.jobs, with: [])
        }
        for job in left { job { true } }
    }

    private func work() {
        while let job = next() {
            job { state.withLock { $0.isOver } }
        }
    }

    private func next() -> (@Sendable (() -> Bool) -> Void)? {
        state.withLock { state in
            state.isRunning = !state.jobs.isEmpty
            return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
        }
    }

    /// Ends the filter that runs; those that wait are told that all is over.
    func shutDown() { state.withLock { $0.isOver = true } }
}
