// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// A bounded number of recognisers, started when they are needed and kept warm.
final class RecogniserPool: Sendable {
    private struct State {
        var idle: [RecogniserThread] = []
        var all: [RecogniserThread] = []
        /// Threads that run or are being started.
        var count = 0
        var isStopped = false
        /// Waits until no thread runs any more.
        var stopWaiter: CheckedContinuation<Void, Never>?
    }

    private let model: PreparedModel
    private let maximumCount: Int
    private let state = Mutex(State())

    /// Creates a pool without any recogniser.
    init(model: PreparedModel, maximumCount: Int) {
        self.model = model
        self.maximumCount = maximumCount
    }

    /// Loads the first recogniser, so that a bad model is noticed before the first request.
    func warmUp() async throws(RecognitionEndpointError) {
        guard case .toStart(let number) = reserve() else { return }
        free(try await start(number: number))
    }

    /// How many jobs are being worked at.
    var busyCount: Int { state.withLock { $0.count - $0.idle.count } }

    /// Gives a job to a recogniser; loads a new one when all are busy and there may be more.
    ///
    /// - Returns: false when as many as there may be are busy, or the pool was stopped.
    /// - Throws: `RecognitionEndpointError` when a new recogniser cannot be loaded.
    func begin(_ job: RecognitionJob) async throws(RecognitionEndpointError) -> Bool {
        switch reserve() {
        case .warm(let thread):
            return thread.work(at: job)
        case .toStart(let number):
            return try await start(number: number).work(at: job)
        case .none:
            return false
        }
    }

    /// Waits until a recogniser is free or may be loaded, but no longer than `limit`.
    func waitForRoom(upTo limit: Duration) async {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            let hasRoom = state.withLock { !$0.idle.isEmpty || $0.count < maximumCount }
            if hasRoom || Task.isCancelled { return }
            // A cancelled wait ends at once, which is what is wanted.
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Ends every recogniser after the job that it is at, and waits for that.
    ///
    /// Jobs are to be failed before, or the wait is as long as the client likes.
    func stop() async {
        let threads = state.withLock { state in
            state.isStopped = true
            return state.all
        }
        for thread in threads { thread.stop() }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.count > 0 { state.stopWaiter = continuation }
                return state.count == 0
            }
            if isOver { continuation.resume() }
        }
        for thread in state.withLock(\.all) { thread.join() }
    }

    // MARK: - Threads

    private enum Reservation {
        case warm(RecogniserThread)
        case toStart(number: Int)
        case none
    }

    private func reserve() -> Reservation {
        state.withLock { state in
            if state.isStopped { return .none }
            // The one that was used last has its model in the processor's caches.
            if let thread = state.idle.popLast() { return .warm(thread) }
            guard state.count < maximumCount else { return .none }
            state.count += 1
            return .toStart(number: state.count)
        }
    }

    private func start(
        number: Int
    ) async throws(RecognitionEndpointError) -> RecogniserThread {
        let thread = try await RecogniserThread.start(
            number: number, model: model, onIdle: { self.free($0) }, onEnd: { self.forgetOne() })
        let isStopped = state.withLock { state in
            state.all.append(thread)
            return state.isStopped
        }
        if isStopped { thread.stop() }
        return thread
    }

    private func free(_ thread: RecogniserThread) {
        state.withLock { $0.idle.append(thread) }
    }

    private func forgetOne() {
        let waiter = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.stopWaiter.take() : nil
        }
        waiter?.resume()
    }
}
