// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform
internal import Synchronization

/// A bounded number of recognisers, started when they are needed, and the recordings that wait for
/// one, in the order in which they came.
///
/// A recogniser that has had nothing to do for a while ends, unless it is the only one that is idle:
/// one is kept, so that the next recording finds its model loaded, and the memory of the others is
/// given back. That one is woken by its next recording alone.
final class RecogniserPool: Sendable {
    private struct State {
        var idle: [RecogniserThread] = []
        var all: [RecogniserThread] = []
        /// Recordings that wait; empty while a recogniser is idle.
        var queue: [RecognitionJob] = []
        /// Threads that run or are being started.
        var count = 0
        var lastNumber = 0
        var isStopped = false
        /// The name that the last program has given itself.
        var name = "recogniser"
        /// Waits until no thread runs any more.
        var stopWaiter: CheckedContinuation<Void, Never>?

        /// The next one that has not been given up.
        mutating func nextJob() -> RecognitionJob? {
            while !queue.isEmpty {
                let job = queue.removeFirst()
                if job.begin() { return job }
            }
            return nil
        }

        /// Counts one more thread, and returns its number; nil when there are enough.
        mutating func reserve(of maximumCount: Int) -> Int? {
            guard !isStopped, count < maximumCount else { return nil }
            (count, lastNumber) = (count + 1, lastNumber + 1)
            return lastNumber
        }
    }

    /// In seconds since 1970.
    let created = Int(Date().timeIntervalSince1970)
    /// How long a recogniser stays that is not the only idle one.
    let idleTime: Duration
    private let recogniser: Recogniser
    private let maximumCount: Int
    private let maximumWaitingCount: Int
    private let state = Mutex(State())

    init(
        _ recogniser: Recogniser, maximumCount: Int, maximumWaitingCount: Int = 16,
        idleTime: Duration = .seconds(60)
    ) {
        (self.recogniser, self.idleTime) = (recogniser, idleTime)
        (self.maximumCount, self.maximumWaitingCount) = (maximumCount, maximumWaitingCount)
    }

    /// Starts the first recogniser, so that one that cannot start is noticed before the first request;
    /// gives it up when the task is cancelled.
    func warmUp() async throws(RecognitionEndpointError) {
        guard let number = state.withLock({ $0.reserve(of: maximumCount) }) else { return }
        let isReady = Settlement<RecogniserFault?>()
        startThread(number) { isReady.settle($0) }
        let fault = await withTaskCancellationHandler {
            await isReady.value
        } onCancel: {
            giveUp()
        }
        guard let fault else { return }
        throw .recogniserUnusable(reason: fault.reason, hint: fault.hint)
    }

    var busyCount: Int { state.withLock { $0.count - $0.idle.count } }

    var waitingCount: Int { state.withLock { $0.queue.count { !$0.isOver } } }

    /// Whether all recognisers that there may be are at a job.
    var isFull: Bool { state.withLock { $0.idle.isEmpty && $0.count >= maximumCount } }

    var name: String {
        get { state.withLock(\.name) }
        set { state.withLock { $0.name = newValue } }
    }

    /// Whether recordings wait for a recogniser.
    var isCrowded: Bool { state.withLock { !$0.queue.isEmpty } }

    var threadCount: Int { state.withLock(\.count) }

    /// Gives a job to a recogniser; starts one when all are busy and there may be more, or else has the
    /// job wait for its turn.
    ///
    /// - Returns: false when too many wait already, or the pool was stopped.
    func submit(_ job: RecognitionJob) -> Bool {
        let (thread, number, isTaken) = state.withLock { state in
            if state.isStopped { return (RecogniserThread?.none, Int?.none, false) }
            if let thread = state.idle.last {
                // A job that has been given up has had its end, and takes no recogniser.
                guard job.begin() else { return (nil, nil, true) }
                state.idle.removeLast()
                return (thread, nil, true)
            }
            state.queue.removeAll(where: \.isOver)
            let number = state.reserve(of: maximumCount)
            guard number != nil || state.queue.count < maximumWaitingCount else {
                return (nil, nil, false)
            }
            state.queue.append(job)
            return (nil, number, true)
        }
        if let number { startThread(number) { _ in } }
        // The thread may have begun to end since.
        if let thread, !thread.work(at: job) { job.end(.failed(.shuttingDown)) }
        return isTaken
    }

    /// Ends every recogniser, and gives up what they are at; from any thread, without waiting for that.
    func giveUp() {
        let (threads, jobs) = state.withLock { state in
            state.isStopped = true
            defer { state.queue = [] }
            return (state.all, state.queue)
        }
        for job in jobs { job.fail(.shuttingDown) }
        for thread in threads { thread.stop() }
    }

    /// Ends every recogniser, and waits for that.
    func stop() async {
        giveUp()
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

    private func startThread(
        _ number: Int, onReady: @escaping @Sendable (RecogniserFault?) -> Void
    ) {
        do throws(SystemError) {
            let thread = try RecogniserThread(recogniser, for: self)
            try state.withLock { state throws(SystemError) in
                try thread.start(number: number, onReady: onReady)
                state.all.append(thread)
                if state.isStopped { thread.stop() }
            }
        } catch {
            let fault = RecogniserFault(reason: "it cannot be started: \(error.description)")
            onReady(fault)
            forget(nil, fault)
        }
    }

    /// Takes a thread back, on that thread, and returns its next job; nil when it is idle now.
    func free(_ thread: RecogniserThread) -> RecognitionJob? {
        state.withLock { state in
            if let job = state.nextJob() { return job }
            state.idle.append(thread)
            return nil
        }
    }

    /// Lets an idle thread go if another one is idle; false when it has to stay, or has a job.
    func dismiss(_ thread: RecogniserThread) -> Bool {
        retire(thread, orKeep: 1)
    }

    /// Gives no more jobs to a thread; false when it has been given one, or so few are idle.
    func retire(_ thread: RecogniserThread, orKeep few: Int = 0) -> Bool {
        // Under one lock: two threads that look at once would both go.
        state.withLock { state in
            let count = state.idle.count
            guard count > few else { return false }
            state.idle.removeAll { $0 === thread }
            return state.idle.count < count
        }
    }

    /// Takes note that a thread has ended; called on that thread.
    func forget(_ thread: RecogniserThread?, _ fault: RecogniserFault?) {
        let (waiter, number, failed) = state.withLock { state in
            state.count -= 1
            state.idle.removeAll { $0 === thread }
            // The stopping thread joins those that were told to stop.
            if !state.isStopped { state.all.removeAll { $0 === thread } }
            var failed: [RecognitionJob] = []
            if fault != nil, state.count == 0 { swap(&failed, &state.queue) }
            let number = state.queue.isEmpty || fault != nil ? nil : state.reserve(of: maximumCount)
            return (state.count == 0 ? state.stopWaiter.take() : nil, number, failed)
        }
        for job in failed { job.fail(.recogniserFailed(reason: fault?.reason ?? "")) }
        if let number { startThread(number) { _ in } }
        waiter?.resume()
    }
}
