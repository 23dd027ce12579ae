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
        /// Wait until a recogniser is free or may be loaded.
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        var nextWaiter = 0

        /// Takes everybody out who waits for room; they are to be resumed without the lock.
        mutating func takeWaiters() -> [CheckedContinuation<Bool, Never>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
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
    /// - Parameters:
    ///   - job: what is to be recognised.
    ///   - patience: how long to wait for a recogniser when as many as there may be are busy.
    /// - Returns: false when none was free in time, the task was cancelled, or the pool was stopped.
    /// - Throws: `RecognitionEndpointError` when a new recogniser cannot be loaded.
    func begin(
        _ job: RecognitionJob, waitingUpTo patience: Duration = .zero
    ) async throws(RecognitionEndpointError) -> Bool {
        let deadline = ContinuousClock.now + patience
        while true {
            switch reserve() {
            case .warm(let thread):
                return thread.work(at: job)
            case .toStart(let number):
                return try await start(number: number).work(at: job)
            case .none:
                // Somebody else may be quicker to take what was free.
                guard await hasRoom(by: deadline) else { return false }
            }
        }
    }

    /// Waits until a recogniser is free or may be loaded.
    ///
    /// - Returns: false when the deadline has passed, the task was cancelled, or the pool was
    ///   stopped before.
    private func hasRoom(by deadline: ContinuousClock.Instant) async -> Bool {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let alarm = Task {
            // One that is cancelled has nobody left to wake.
            try? await Task.sleep(until: deadline)
            giveUpWaiting(number)
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known: Bool? = state.withLock { state in
                    // What would end the wait may have happened before it is noted.
                    if Task.isCancelled || state.isStopped || deadline <= .now { return false }
                    if !state.idle.isEmpty || state.count < maximumCount { return true }
                    state.waiters[number] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            giveUpWaiting(number)
        }
    }

    private func giveUpWaiting(_ number: Int) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: false)
    }

    /// Ends every recogniser after the job that it is at, and waits for that.
    ///
    /// Jobs are to be failed before, or the wait is as long as the client likes.
    func stop() async {
        let (threads, waiters) = state.withLock { state in
            state.isStopped = true
            return (state.all, state.takeWaiters())
        }
        for waiter in waiters { waiter.resume(returning: false) }
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
        let waiters = state.withLock { state in
            state.idle.append(thread)
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    private func forgetOne() {
        let (stopWaiter, waiters) = state.withLock { state in
            state.count -= 1
            return (state.count == 0 ? state.stopWaiter.take() : nil, state.takeWaiters())
        }
        stopWaiter?.resume()
        for waiter in waiters { waiter.resume(returning: true) }
    }
}
