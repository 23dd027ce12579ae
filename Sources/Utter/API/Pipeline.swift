// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import Capture
internal import FoundationEssentials
public import LinuxPlatform
internal import Synchronization
internal import TakeStore
internal import Upload

/// The loops that carry any number of takes: capture, journal, transfer, and sync beside them.
///
/// How they are joined is in `Wiring`, what becomes of a take in `TakeMachine`.
public final class Pipeline: Sendable {
    let wiring: Wiring
    /// Where takes are kept; nil keeps them in memory.
    package let spool: Spool?
    private let lengths, stretches: ServiceNotes

    /// Whether requests name the trace that they belong to, for an operator's tools.
    package var tracesRequests: Bool {
        get { isTracing.load(ordering: .relaxed) }
        set { isTracing.store(newValue, ordering: .relaxed) }
    }
    private let isTracing = Atomic(false)

    package let numbers = TakeNumbers()
    let tokens = TokenCache()
    let filters = FilterQueue()
    let secrets: SecretKeeper
    /// The archiver; nil without an archive.
    let archiver: Archiver?
    /// Complete after `shutDown`.
    package let unwritten = UnwrittenTakes()

    /// Starts the loops; the disk is not touched.
    ///
    /// - Parameters:
    ///   - spool: where takes are kept; when its folder cannot be used, takes live in memory and say
    ///     so. With nil they live in memory on purpose, and nothing ever touches the disk.
    ///   - secrets: answers for the secrets that plans only name; without it such takes are kept.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    public convenience init(
        spool: Spool?, secrets: SecretProvider? = nil
    ) throws(SystemError) {
        try self.init(spool: spool, secrets: SecretKeeper(secrets)) {
            growth throws(SystemError) in try TransferLoop(wokenBy: growth)
        }
    }

    init(
        spool: Spool?, secrets: SecretKeeper = SecretKeeper(nil), transport: Wiring.TransportMaker
    ) throws(SystemError) {
        (self.spool, self.secrets) = (spool, secrets)
        wiring = try Wiring(transport: transport)
        lengths = ServiceNotes(.lengths, in: spool, sync: wiring.sync)
        stretches = ServiceNotes(.stretches, in: spool, sync: wiring.sync)
        archiver = Archiver(of: spool)
        archiver?.attach(to: self)
    }

    private let newest = Mutex<TakeID?>(nil)

    /// The name of the next take, behind all that are known, whatever the clock says.
    func nextID() -> TakeID {
        newest.withLock { newest in
            var generator = SystemRandomNumberGenerator()
            let known = [newest, spool?.newestID].compactMap(\.self).max { $0.text < $1.text }
            let id = TakeID(at: Date(), after: known, using: &generator)
            newest = id
            return id
        }
    }

    /// The traits that earlier takes have shown of a service; blocks on the disk.
    func traits(of service: RecognitionService) -> ServiceTraits {
        ServiceTraits(
            wantsLength: lengths.value(of: service.url.origin.description) != nil,
            longest: stretches.value(of: service.url.place))
    }

    /// Remembers the traits that a take has shown of its service; from any thread, does not block.
    func remember(_ traits: ServiceTraits, of service: RecognitionService) {
        if traits.wantsLength { lengths.insert(service.url.origin.description, 1) }
        if let longest = traits.longest { stretches.insert(service.url.place, longest) }
    }

    /// So many takes of one run are answered and have their audio still.
    private static let releasedLimit = 100
    private let releasedTakes = Mutex<[TakeID]>([])
    private struct Running {
        var takes: [TakeRun] = []
        var isOver = false
    }
    private let running = Mutex(Running())

    /// Whether it has been shut down: nothing begins any more.
    var isOver: Bool { running.withLock { $0.isOver } }

    var sync: SyncLoop { wiring.sync }

    /// Starts a take: the source is opened at once, before the disk is looked at and in parallel with
    /// the connection.
    ///
    /// From any thread; does not block. A failure is the take's outcome; after the pipeline's end
    /// that is `left`. In a URL with `{id}` the name of the take stands there, `{date}` is the day
    /// on which it began, in UTC, and `{ext}` what the audio is.
    public func start(_ plan: TakePlan) -> Take {
        var delivery = plan.delivery
        var id = plan.id
        if delivery.service.url.namesTakes {
            let named = id ?? nextID()
            // A take's name changes nothing of what a URL is.
            let url = try? delivery.service.url.naming(
                named, day: named.day, ext: delivery.format.fileExtension)
            delivery.service.url = url ?? delivery.service.url
            id = named
        }
        let exchange = delivery.makeExchange(
            knowing: ServiceTraits(wantsLength: plan.isCompleteSoon))
        let source = plan.source()
        let run = TakeRun(
            id: id, plan: delivery,
            machine: TakeMachine(
                delivery.way(by: exchange), awaitsSound: !source.isLive,
                wantsSecrets: delivery.service.lacksSecrets),
            pipeline: self,
            account: CaptureAccount(powers: delivery.cutsStretches ? PowerTrack() : nil),
            limit: plan.serviceLimit(of: source))
        if began(run) {
            wiring.record(
                source, by: plan.capture.limited(to: run.limit),
                isCompleteSoon: plan.isCompleteSoon, for: run)
        }
        return Take(run: run)
    }

    /// Remembers an answered take whose audio stays for a time.
    ///
    /// A program that sends thousands of files must not fill the disk with what has been answered:
    /// the audio of the oldest gives way. The next sweep sees to that of earlier runs.
    func released(_ take: TakeID) {
        let oldest = releasedTakes.withLock { takes -> TakeID? in
            takes.append(take)
            return takes.count > Self.releasedLimit ? takes.removeFirst() : nil
        }
        // It is open: the take is in it.
        guard let store = try? spool?.store() else { return }
        store.noteRelease(of: take)
        guard let oldest else { return }
        sync.perform { SpoolRules.removeReleasedAudio(of: oldest, in: store) }
    }

    /// Waits until the disk has what it was given so far, unless the pipeline is over: a take whose
    /// outcome is known is unlocked then, and can be sent again.
    package func settled() async {
        await withCheckedContinuation { continuation in
            if !sync.perform({ continuation.resume() }) { continuation.resume() }
        }
    }

    /// Deletes what is over its time on the disk, and notes what the rest holds, on the sync thread:
    /// the journals of takes have their turn after each step.
    ///
    /// From any thread; does not block.
    public func sweep() {
        guard let spool else { return }
        sync.perform { [self] in
            // Where takes cannot be kept, none is over its time.
            guard let store = try? spool.store() else { return }
            spool.rules.sweep(store, on: sync) { [self] in archive($0[...]) }
        }
    }

    /// Puts takes into the queue of the archive, one after the other, and stores what lies there.
    private func archive(_ ids: ArraySlice<TakeID>) {
        guard let archiver else { return }
        // It is open: the takes are in it.
        guard let id = ids.first, let store = try? spool?.store() else { return archiver.begin() }
        archiver.enqueue(id, of: store)
        sync.perform { [self] in archive(ids.dropFirst()) }
    }

    /// Ends the loops and waits for them, the disk included.
    ///
    /// Takes that still run are abandoned where they are, and their outcome is `left`; what they
    /// captured stays in their journals, and the next recovery brings them to an end. A program that
    /// ends without it may have answered takes that the disk does not know to be answered: they are
    /// sent again.
    public func shutDown() {
        running.withLock { $0.isOver = true }
        archiver?.shutDown()
        secrets.shutDown()
        filters.shutDown()
        wiring.shutDown()
        unwritten.clear()
        for run in running.withLock({ $0.takes }) { run.handle(.abandoned) }
    }

    /// Takes a run in; false, and it is abandoned, when the pipeline has been shut down.
    @discardableResult
    func began(_ run: TakeRun) -> Bool {
        let isOver = running.withLock { running in
            running.takes.append(run)
            return running.isOver
        }
        if let failure = run.plan.secretFailure { run.handle(.unsendable(failure)) }
        if isOver { run.handle(.abandoned) }
        return !isOver
    }

    func ended(_ run: TakeRun) {
        running.withLock { $0.takes.removeAll { $0 === run } }
    }
}
