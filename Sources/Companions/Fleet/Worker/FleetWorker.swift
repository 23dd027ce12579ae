// SPDX-License-Identifier: Apache-2.0

package import Capture
package import LinuxPlatform
internal import Synchronization
internal import TakeStore
package import Utter

/// Takes takes out of the queue, has a service recognise them, and writes the one mark of each.
///
/// It holds nothing that is not in the store: it may be killed at any moment.
package final class FleetWorker: Sendable {
    package struct Settings: Sendable {
        /// The worker's name in marks and notes.
        package let name: String
        package var slots = 1
        /// Ends when nothing waits and nothing is leased.
        package var drains = false
        /// How long the takes that run may go on after the end was asked for.
        package var grace = Duration.seconds(120)
        /// Its own folder, which is empty when it begins.
        var folder: String
        /// The most bytes of one recording.
        var audioLimit = 4 << 30
        package var attemptLimit = 5
        /// Between quick looks for new takes, and between whole ones.
        package var look = Duration.seconds(15)
        var wholeLook = Duration.seconds(3_600)

        /// Reads a recording of any form.
        var source: @Sendable (String) -> any CaptureSource

        package init(
            name: String, folder: String, source: @escaping @Sendable (String) -> any CaptureSource
        ) { (self.name, self.folder, self.source) = (name, folder, source) }
    }

    struct State {
        var running: [TakeID: Take?] = [:]
        /// Leased messages, and when their leases were extended.
        var held: [ObjectIdentifier: NATSDelivery] = [:]
        var extended = ContinuousClock.now
        var pauses = ServicePauses()
        var pullers: [NATSPuller] = []
        var activeSlots = 0
        /// When a slot last asked whether the queue is whole.
        var asked = ContinuousClock.now
        /// It pulls no more.
        var isStopping = false
        /// Takes that run are left.
        var isLeaving = false
        /// Why it cannot work at all.
        var failure: StoreFailure?
    }

    let settings: Settings
    let store: ObjectStore
    let queue: NATSQueue
    let shelf: Shelf
    let limits: FleetLimits
    let pipeline: Pipeline
    let numbers: FleetNumbers
    let reconciler: Reconciler
    /// Tells a person one line, and a journal its fields.
    let tell: @Sendable (String, [String: String]) -> Void
    let state = Mutex(State())
    private let news: Wakeup
    /// Ends the wait between looks.
    private let checkNews: Wakeup

    package init(
        _ settings: Settings, store: ObjectStore, queue: NATSQueue, shelf: Shelf,
        limits: FleetLimits, pipeline: Pipeline, numbers: FleetNumbers,
        tell: @escaping @Sendable (String, [String: String]) -> Void
    ) throws(SystemError) {
        (self.settings, self.store, self.queue, self.shelf) = (settings, store, queue, shelf)
        (self.limits, self.pipeline, self.numbers) = (limits, pipeline, numbers)
        self.tell = tell
        reconciler = Reconciler(store, queue, numbers: numbers) { tell($0, [:]) }
        news = try Wakeup(isPolled: false)
        checkNews = try Wakeup(isPolled: false)
    }

    /// Why it takes no work, in one line; nil when it does; asks the queue.
    package var obstacle: String? {
        if let name = state.withLock({ $0.pauses.wrong.first }) {
            return "the service '\(name)' refuses this worker"
        }
        do throws(QueueFailure) {
            _ = try queue.counts()
            return nil
        } catch {
            return error.reason
        }
    }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Works until it is stopped or, if it drains, until there is nothing left; blocks.
    ///
    /// The calling thread extends the leases, and waits for nothing else.
    ///
    /// - Returns: why it could not go on; nil when it has ended as it should.
    package func run() -> StoreFailure? {
        for _ in 0..<settings.slots {
            state.withLock { $0.activeSlots += 1 }
            do throws(SystemError) {
                _ = try NamedThread(name: "slot") { [self] in
                    runLine(.takes) { work(on: $0) }
                    state.withLock { $0.activeSlots -= 1 }
                    news.signal()
                }
            } catch {
                state.withLock { $0.activeSlots -= 1 }
                tell("a slot is missing: \(error.description)", [:])
            }
        }
        // A worker that drains looks itself, and without a thread another worker does.
        let checker =
            settings.drains
            ? nil
            // Another worker may look.
            : try? NamedThread(name: "check") { [self] in
                runLine(.check) { delivery in
                    lead(by: delivery)
                    delivery.giveBack(after: .zero)
                }
            }
        var deadline: ContinuousClock.Instant?
        while state.withLock({ $0.activeSlots > 0 }) {
            news.wait(WorkerPause(until: [deadline, extendLeases()].compactMap(\.self).min()))
            guard isStopping else { continue }
            deadline = deadline ?? .now + settings.grace
            if let end = deadline, end <= .now {
                leave()
                deadline = .now + .seconds(5)
            }
        }
        stop()
        checker?.join()
        return state.withLock { $0.failure }
    }

    /// Pulls no more, and lets run what runs; from any thread.
    package func stop() {
        let pullers = state.withLock { state in
            state.isStopping = true
            return state.pullers
        }
        for puller in pullers { puller.stop() }
        news.signal()
        checkNews.signal()
    }

    /// Gives back what runs, to be done by others.
    private func leave() {
        let running = state.withLock { state in
            state.isLeaving = true
            return state.running.values.compactMap(\.self)
        }
        for take in running { take.leave() }
    }

    private func fail(_ failure: StoreFailure) {
        state.withLock { $0.failure = $0.failure ?? failure }
        stop()
    }

    // MARK: - Leases

    private func hold(_ delivery: NATSDelivery) {
        state.withLock { state in
            if state.held.isEmpty { state.extended = .now }
            state.held[ObjectIdentifier(delivery)] = delivery
        }
        news.signal()
    }

    /// Extends the leases when a third of their time is over; returns when to do so again, if ever.
    private func extendLeases() -> ContinuousClock.Instant? {
        let lease = queue.lease
        let (held, next) = state.withLock { state -> ([NATSDelivery], ContinuousClock.Instant?) in
            guard !state.held.isEmpty else { return ([], nil) }
            let due = state.extended + lease / 3
            guard due <= .now else { return ([], due) }
            // The process was stopped, or the machine slept: others have what it had.
            if state.extended + lease < .now { numbers.add(.leasesLost, Double(state.held.count)) }
            state.extended = .now
            return (Array(state.held.values), .now + lease / 3)
        }
        for delivery in held { delivery.extend() }
        return next
    }

    // MARK: - Pulling

    private func note(_ failure: QueueFailure) {
        numbers.add(.queueErrors)
        tell(failure.reason, [:])
    }

    private func note(_ error: any Error) {
        switch error {
        case let failure as QueueFailure: note(failure)
        case let failure as StoreFailure:
            tell("the store cannot be looked through: \(failure.reason)", [:])
        default: break
        }
    }

    /// Makes what pulls, so that `stop` ends its wait.
    private func makePuller(of line: QueueLine) throws(QueueFailure) -> NATSPuller {
        try queue.prepare()
        let puller = try queue.makePuller(of: line)
        state.withLock { $0.pullers.append(puller) }
        return puller
    }

    /// Pulls messages of a line until the end, and extends their leases while something has them.
    private func runLine(_ line: QueueLine, _ body: (NATSDelivery) -> Void) {
        var made: NATSPuller?
        let pause = Backoff(from: .milliseconds(500), to: .seconds(10))
        var backoff = pause
        while !isStopping {
            // While no service can be used, others may have the takes.
            if line == .takes, let rest = restOfServices {
                _ = waits(rest) { isStopping }
                continue
            }
            do throws(QueueFailure) {
                let puller = if let made { made } else { try makePuller(of: line) }
                made = puller
                // A request that a server had is gone with that.
                if let delivery = try puller.pull(within: .seconds(settings.drains ? 1 : 10)) {
                    hold(delivery)
                    if isStopping { delivery.giveBack(after: .zero) } else { body(delivery) }
                    state.withLock { $0.held[ObjectIdentifier(delivery)] = nil }
                } else if settings.drains {
                    if try isDrained() { return stop() }
                } else if !isStopping, isToAsk() {
                    // Its data may have been wiped.
                    try queue.prepare()
                }
                backoff = pause
            } catch {
                note(error)
                _ = waits(backoff.next()) { isStopping }
            }
        }
    }

    /// Whether no slot has asked for a while if the queue is whole: one of them asks for all.
    private func isToAsk() -> Bool {
        state.withLock { state in
            guard state.asked + .seconds(9) <= .now else { return false }
            state.asked = .now
            return true
        }
    }

    /// How long none of the services is to be asked; nil when one may be.
    private var restOfServices: Duration? {
        let rests = state.withLock { state in shelf.names.map { state.pauses.rest(of: $0) } }
        return rests.contains(nil) ? nil : rests.compactMap(\.self).min()
    }

    /// Whether nothing waits, nothing is leased, and the store has no take without a mark.
    ///
    /// The store is asked last: a queue that was wiped is empty, and nothing is done yet.
    private func isDrained() throws(QueueFailure) -> Bool {
        try queue.prepare()
        guard try queue.counts().isEmpty else { return false }
        do {
            guard try queue.restore() == 0,
                try reconciler.checkAll(unless: { isStopping }) == 0
            else { return false }
            return try queue.counts().isEmpty
        } catch {
            note(error)
            return false
        }
    }

    private func work(on delivery: NATSDelivery) {
        numbers.add(.running)
        defer { numbers.add(.running, -1) }
        guard let take = QueuedTake(delivery.bytes) else {
            numbers.add(.badMessages)
            tell("a message that names no take is dropped", [:])
            return delivery.drop()
        }
        let isNew = state.withLock { state in
            guard state.running[take.id] == nil else { return false }
            state.running[take.id] = .some(nil)
            return true
        }
        // It was delivered twice, and this worker has it already.
        guard isNew else { return delivery.giveBack(after: queue.lease / 2) }
        defer { state.withLock { $0.running[take.id] = nil } }
        do throws(StoreFailure) {
            var work = TakeWork(self, take, delivery)
            try work.run()
        } catch {
            tell("take \(take.id.text): given back: \(error.reason)", ["TAKE_ID": take.id.text])
            numbers.add(.givenBack)
            delivery.giveBack(after: TakeHistory.pause(after: delivery.deliveryCount, asked: .zero))
            if error.isLasting { fail(error) }
        }
    }

    // MARK: - Reconciling

    /// Reconciles while it has the message of the reconciler.
    private func lead(by delivery: NATSDelivery) {
        var whole: ContinuousClock.Instant?
        // A queue that was wiped has another message, which another worker may have.
        while !isStopping, delivery.isStillThere() {
            do {
                var count = try queue.restore()
                if whole.map({ $0 + settings.wholeLook <= .now }) ?? true {
                    count += try reconciler.checkAll { isStopping }
                    whole = .now
                } else {
                    count += try reconciler.look { isStopping }
                }
                if count > 0 {
                    tell("put \(count) \(count == 1 ? "take" : "takes") into the queue", [:])
                }
            } catch {
                note(error)
            }
            if !isStopping { checkNews.wait(.until(.now + settings.look)) }
        }
    }
}
