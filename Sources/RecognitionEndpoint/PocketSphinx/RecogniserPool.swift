// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// A bounded number of recognisers, started when they are needed.
///
/// The pool keeps one idle recogniser, so that the next body finds a decoder loaded; the others
/// end, since each takes 35 to 120 MB.
final class RecogniserPool: Sendable {
    private struct State {
        var idle: [RecogniserThread] = []
        var all: [RecogniserThread] = []
        /// The last one that was dismissed; the next one joins it.
        var dismissed: RecogniserThread?
        /// Threads that run or are being started.
        var count = 0
        /// The number of the thread that was started last.
        var lastNumber = 0
        var isStopped = false
        /// Waits until no thread runs any more.
        var stopWaiter: CheckedContinuation<Void, Never>?
        /// Wait until a recogniser is free or may be loaded.
        var waiters: [ObjectIdentifier: Settlement<Bool>] = [:]

        /// Takes all waiters out; they are to be told without the lock.
        mutating func takeWaiters() -> [Settlement<Bool>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    private let model: PreparedModel
    private let maximumCount: Int
    private let state = Mutex(State())

    init(model: PreparedModel, maximumCount: Int) {
        self.model = model
        self.maximumCount = maximumCount
    }

    /// Loads the first recogniser, so that a bad model is noticed before the first request.
    func warmUp() async throws(RecognitionEndpointError) {
        guard case .toStart(let number) = reserve() else { return }
        _ = free(try await start(number: number))
    }

    var busyCount: Int { state.withLock { $0.count - $0.idle.count } }

    /// Whether all recognisers that there may be are at a job.
    var isFull: Bool { state.withLock { isFull($0) } }

    private func isFull(_ state: State) -> Bool {
        state.idle.isEmpty && state.count >= maximumCount
    }

    var threadCount: Int { state.withLock(\.count) }

    /// Gives a job to a recogniser; loads a new one when all are busy and there may be more.
    ///
    /// - Returns: false when none was free in time, the task was cancelled, or the pool was stopped.
    func begin(
        _ job: RecognitionJob, waitingUpTo patience: Duration = .zero
    ) async throws(RecognitionEndpointError) -> Bool {
        let deadline = ContinuousClock.now + patience
        while true {
            switch reserve() {
            case .warm(let thread):
                if thread.work(at: job) { return true }
            case .toStart(let number):
                if try await start(number: number).work(at: job) { return true }
            case .none:
                // Another request may be quicker to take what was free.
                guard await hasRoom(by: deadline) else { return false }
            }
        }
    }

    /// Waits until a recogniser is free or may be loaded.
    ///
    /// - Returns: false when the deadline has passed, the task was cancelled, or the pool was
    ///   stopped before.
    private func hasRoom(by deadline: ContinuousClock.Instant) async -> Bool {
        let waiter = Settlement<Bool>()
        let known: Bool? = state.withLock { state in
            // What would end the wait may have happened before it is noted.
            if state.isStopped || deadline <= .now { return false }
            if !isFull(state) { return true }
            state.waiters[ObjectIdentifier(waiter)] = waiter
            return nil
        }
        if let known { return known }
        defer { state.withLock { _ = $0.waiters.removeValue(forKey: ObjectIdentifier(waiter)) } }
        return await withTaskCancellationHandler {
            await waiter.value(by: deadline, or: false)
        } onCancel: {
            waiter.settle(false)
        }
    }

    /// Ends every recogniser after the job that it is at, and waits for that.
    ///
    /// Jobs are to be failed before, or the wait is as long as the client likes.
    func stop() async {
        let (threads, waiters) = state.withLock { state in
            state.isStopped = true
            return (state.all, state.takeWaiters())
        }
        for waiter in waiters { waiter.settle(false) }
        for thread in threads { thread.stop() }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.count > 0 { state.stopWaiter = continuation }
                return state.count == 0
            }
            if isOver { continuation.resume() }
        }
        let ended = state.withLock { state in state.all + [state.dismissed].compactMap(\.self) }
        for thread in ended { thread.join() }
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
            if let thread = state.idle.popLast() { return .warm(thread) }
            guard state.count < maximumCount else { return .none }
            state.count += 1
            state.lastNumber += 1
            return .toStart(number: state.lastNumber)
        }
    }

    private func start(
        number: Int
    ) async throws(RecognitionEndpointError) -> RecogniserThread {
        let thread = try await RecogniserThread.start(
            number: number, model: model, onIdle: { self.free($0) }, onEnd: { self.forget($0) })
        let isStopped = state.withLock { state in
            state.all.append(thread)
            return state.isStopped
        }
        if isStopped { thread.stop() }
        return thread
    }

    /// Takes a thread back that has done its job; called on that thread.
    ///
    /// - Returns: whether it is to stay for the next job.
    private func free(_ thread: RecogniserThread) -> Bool {
        let (stays, before, waiters) = state.withLock { state in
            let waiters = state.takeWaiters()
            guard !state.idle.isEmpty, !state.isStopped else {
                state.idle.append(thread)
                return (true, RecogniserThread?.none, waiters)
            }
            state.all.removeAll { $0 === thread }
            state.count -= 1
            let before = state.dismissed
            state.dismissed = thread
            return (false, before, waiters)
        }
        for waiter in waiters { waiter.settle(true) }
        before?.join()
        return stays
    }

    /// Takes note that a thread has ended that was not dismissed.
    private func forget(_ thread: RecogniserThread?) {
        let (stopWaiter, waiters) = state.withLock { state in
            state.count -= 1
            state.idle.removeAll { $0 === thread }
            // Those that were told to stop are joined by who told them.
            if !state.isStopped { state.all.removeAll { $0 === thread } }
            return (state.count == 0 ? state.stopWaiter.take() : nil, state.takeWaiters())
        }
        stopWaiter?.resume()
        for waiter in waiters { waiter.settle(true) }
    }
}
