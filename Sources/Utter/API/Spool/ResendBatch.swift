// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
public import TakeStore

/// How a kept take that was sent again has ended.
public struct ResentTake: Sendable {
    /// The way in which it ended.
    public enum Ending: Sendable {
        /// It was sent; a transcript that the program has is to be told to `Take.release`.
        case outcome(TakeOutcome, of: Take)
        /// Another process sends it, or has had it answered or removed meanwhile.
        case elsewhere
        /// It cannot be sent.
        case failed(TakeStoreError)
        /// It was not sent: its service takes no more, for this reason.
        case skipped(reason: String)
        /// It was not sent: the batch was left before.
        case left
    }

    /// The take as it was before.
    public let kept: KeptTake
    /// The way in which it ended.
    public let ending: Ending
    /// Whether others are skipped because of its failure.
    package let closesService: Bool
}

/// Kept takes that are being sent: their endings, in the order in which the takes were given.
///
/// When the task that asks for the endings is cancelled, or the loop over them is left, the takes that
/// run are kept (`Take.leave`), and no others are sent.
public struct ResendBatch: AsyncSequence, Sendable {
    /// The next ending, or nil behind the last one.
    public final class AsyncIterator: AsyncIteratorProtocol {
        private var endings: AsyncStream<ResentTake>.Iterator
        private let batch: ResendBatch

        fileprivate init(_ batch: ResendBatch) {
            self.batch = batch
            endings = batch.endings.makeAsyncIterator()
        }

        deinit { batch.leave() }

        /// Waits for the next ending.
        public func next() async -> ResentTake? {
            batch.begin()
            batch.asks.yield()
            return await endings.next(isolation: #isolation)
        }
    }

    private let endings: AsyncStream<ResentTake>
    private let asks: AsyncStream<Void>.Continuation
    private let state: State

    /// The task that sends; nil before the first ending is asked for.
    private final class State: Sendable {
        let task = Mutex<Task<Void, Never>?>(nil)
        let isLeft = Mutex(false)
        let run: @Sendable () async -> Void

        init(_ run: @escaping @Sendable () async -> Void) { self.run = run }
    }

    init(
        _ takes: [KeptTake], jobs: Int,
        by plan: @escaping @Sendable (KeptTake) throws(TakeStoreError) -> DeliveryPlan,
        of queue: Spool? = nil, in pipeline: Pipeline
    ) {
        let (endings, told) = AsyncStream.makeStream(of: ResentTake.self)
        let (questions, asks) = AsyncStream.makeStream(of: Void.self)
        (self.endings, self.asks) = (endings, asks)
        state = State {
            var run = ResendRun(
                takes: takes, plan: plan, queue: queue, pipeline: pipeline, told: told,
                asks: questions.makeAsyncIterator())
            await run.runAll(jobs: jobs)
            told.finish()
        }
        told.onTermination = { [weak state] _ in state.map(Self.leave) }
    }

    /// Keeps the takes that run, and sends no others; the endings still come.
    public func leave() { Self.leave(state) }

    private static func leave(_ state: State) {
        state.isLeft.withLock { $0 = true }
        state.task.withLock { $0 }?.cancel()
    }

    private func begin() {
        state.task.withLock { task in
            guard task == nil else { return }
            let new = Task { [state] in await state.run() }
            if state.isLeft.withLock({ $0 }) { new.cancel() }
            task = new
        }
    }

    /// Begins to listen; one listener gets the endings.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// Sends the takes of a batch, in a task that is cancelled to leave them.
private struct ResendRun: OrderedBatch {
    typealias Ending = (ending: ResentTake.Ending, service: ServiceGate.Service?)

    let takes: [KeptTake]
    let plan: @Sendable (KeptTake) throws(TakeStoreError) -> DeliveryPlan
    /// The spool of the takes; nil: the pipeline's own.
    let queue: Spool?
    let pipeline: Pipeline
    let told: AsyncStream<ResentTake>.Continuation
    /// The listener asks for an ending by each: no more takes begin while it is busy.
    var asks: AsyncStream<Void>.Iterator
    var gate = ServiceGate()
    var closing: Set<Int> = []

    var itemCount: Int { takes.count }

    func job(_ index: Int) -> @Sendable () async -> Ending {
        let (take, queue, pipeline) = (takes[index], queue, pipeline)
        guard !Task.isCancelled else { return { (.left, nil) } }
        do throws(TakeStoreError) {
            var plan = try plan(take)
            plan.retry.pausesAfterRelease = Array(plan.retry.pausesAfterRelease.prefix(1))
            let service = ServiceGate.Service(plan.service)
            if let reason = gate.reason(against: service) {
                return { (.skipped(reason: reason), nil) }
            }
            return { [plan] in (await Self.send(take, of: queue, by: plan, in: pipeline), service) }
        } catch {
            return { (.failed(error), nil) }
        }
    }

    private static func send(
        _ take: KeptTake, of queue: Spool?, by plan: DeliveryPlan, in pipeline: Pipeline
    ) async -> ResentTake.Ending {
        guard !Task.isCancelled else { return .left }
        do throws(TakeStoreError) {
            let running = try await pipeline.resend(
                take.id, of: queue, by: plan, ifStillAfter: take.attempts)
            let outcome = await withTaskCancellationHandler {
                await running.outcome
            } onCancel: {
                running.leave()
            }
            return .outcome(outcome, of: running)
        } catch {
            switch error {
            case .inUse, .notWaiting, .noSuchTake: return .elsewhere
            default: return .failed(error)
            }
        }
    }

    mutating func learn(_ ending: Ending, _ index: Int) {
        guard case .outcome(let outcome, _) = ending.ending, let service = ending.service
        else { return }
        switch outcome.result {
        case .success: gate.note(nil, at: service)
        case .failure(let failure):
            let wasOpen = gate.reason(against: service) == nil
            gate.note(failure, at: service)
            if wasOpen, gate.reason(against: service) != nil { closing.insert(index) }
        }
    }

    mutating func tell(_ ending: Ending, _ index: Int) async {
        _ = await asks.next(isolation: #isolation)
        told.yield(
            ResentTake(
                kept: takes[index], ending: ending.ending,
                closesService: closing.contains(index)))
    }
}
