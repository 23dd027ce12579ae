// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform
internal import Synchronization
internal import TakeStore

/// Takes that an archive has got, and that it is still to get.
public struct ArchiveReport: Sendable {
    /// Takes that are stored with all that belongs to them.
    package(set) public var stored = 0
    /// Takes that wait for the next time.
    package(set) public var waiting = 0
    /// Why the first of these waits, in one line; nil when none has failed.
    package(set) public var reason: String?

    package init() {}
}

/// Puts answered takes into the queue of the archive, and stores what lies there.
///
/// One task does that at a time; usable from any thread.
final class Archiver: Sendable {
    private struct State {
        weak var pipeline: Pipeline?
        var task: Task<Void, Never>?
        /// The report of the task that ended last, until it is asked for.
        var report: ArchiveReport?
        /// Takes that found no place in the queue when that was tried last.
        var unqueued = ArchiveReport()
        /// There is more to do than the task may have seen.
        var isWanted = false
        /// The next time, what the archive has refused lately is tried again, too.
        var isAsked = false
        var isOver = false
    }

    private let spool: Spool
    private let archive: Archive
    private let state = Mutex(State())

    init?(of spool: Spool?) {
        guard let spool, let archive = spool.archive else { return nil }
        (self.spool, self.archive) = (spool, archive)
    }

    /// Where the archive is to get a take; nil when that cannot be.
    func place(for manifest: TakeManifest) -> String? {
        archive.unusablePlace ?? manifest.queued(for: archive)?.url
    }

    /// Puts a take into the queue, with its lock held; false if it waits; blocks on the disk.
    func enqueue(_ manifest: TakeManifest, of folder: TakeFolder) -> Bool {
        do {
            let queue = try spool.queue.store()
            guard try spool.rules.hasRoom(in: queue) else {
                return fail("its queue on the disk is full")
            }
            guard let entry = manifest.queued(for: archive) else {
                return fail("archive.to cannot be used")
            }
            try queue.enqueue(entry, of: folder)
            return true
        } catch {
            return fail("its queue: \(error)")
        }
    }

    private func fail(_ reason: String) -> Bool {
        state.withLock { state in
            state.unqueued.waiting += 1
            state.unqueued.reason = state.unqueued.reason ?? reason
        }
        return false
    }

    /// Puts takes into the queue that could not be put there when they were answered, or whose program
    /// died before it noted that; blocks on the disk.
    ///
    /// Only takes that have their audio can be among them.
    ///
    /// - Returns: how many are still outside of the queue, and why.
    func adopt() -> ArchiveReport {
        state.withLock { $0.unqueued = ArchiveReport() }
        // A take that cannot be looked at is left for the next time, here and below.
        if let store = try? spool.existing(), let ids = try? store.idsWithAudio() {
            for id in ids { enqueue(id, of: store) }
        }
        return state.withLock { $0.unqueued }
    }

    /// Sends what waits to the archive of today's settings, as a person has asked for.
    func moveQueue() {
        // A take that cannot be changed keeps its place in the old archive.
        for take in (try? spool.queue.takes()) ?? [] {
            _ = try? spool.queue.change(take) { $0.move(to: archive) }  // It stays there.
        }
    }

    func enqueue(_ id: TakeID, of store: TakeStore) {
        // A take that cannot be read is left for the next time.
        guard let folder = try? store.take(id), let known = try? folder.manifest(),
            known.isUnarchived
        else { return }
        guard !known.isLocked, (try? folder.lock()) == true  // Without a lock it is another's.
        else { return _ = fail("another utter has it, or its key is missing") }
        defer { folder.unlock() }
        // It may have changed before it was locked.
        guard var manifest = try? folder.manifest(), manifest.isUnarchived,
            enqueue(manifest, of: folder)
        else { return }
        manifest.noteQueue()
        try? folder.save(manifest)  // In the queue it is once, however often this is tried.
    }

    /// The pipeline that sends; once.
    func attach(to pipeline: Pipeline) { state.withLock { $0.pipeline = pipeline } }

    /// Stores what lies in the queue, now or once more; does not block.
    func begin(isAsked: Bool = false) {
        state.withLock { state in
            state.isWanted = true
            state.isAsked = state.isAsked || isAsked
            guard state.task == nil, !state.isOver else { return }
            state.task = Task { [self] in
                while let (pipeline, isAsked) = takeWish() {
                    end(with: await pipeline.storeQueue(isAsked: isAsked))
                }
            }
        }
    }

    /// Whether there is more to do; the task ends when there is not.
    private func takeWish() -> (Pipeline, isAsked: Bool)? {
        state.withLock { state in
            // A wish that comes to a cancelled task is for the next one.
            guard state.isWanted, !state.isOver, !Task.isCancelled, let pipeline = state.pipeline
            else {
                state.task = nil
                return nil
            }
            defer { (state.isWanted, state.isAsked) = (false, false) }
            return (pipeline, state.isAsked)
        }
    }

    private func end(with report: ArchiveReport) {
        state.withLock { state in
            var report = report
            report.stored += state.report?.stored ?? 0
            state.report = report
        }
    }

    /// Waits until nothing more can be stored now; nil when nothing was tried since the last call.
    ///
    /// When the calling task is cancelled, what is under way is left for the next time.
    func rest() async -> ArchiveReport? {
        if let task = state.withLock({ $0.task }) {
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }
        return state.withLock { $0.report.take() }
    }

    func shutDown() {
        state.withLock { state in
            state.isOver = true
            state.task?.cancel()
        }
    }
}

extension Pipeline {
    /// Stores all takes that wait for the archive, also from earlier runs.
    ///
    /// Takes that are answered while the pipeline runs are stored unasked; a program calls this
    /// before it ends, and from a timer. When the calling task is cancelled, what is under way
    /// waits for the next time, and goes on where it was.
    ///
    /// - Parameter isAsked: whether what the archive has refused lately is tried again, too.
    /// - Returns: what it has got, once nothing more can be done now.
    public func archive(isAsked: Bool = false) async -> ArchiveReport {
        // Takes that were answered so far are in the queue then.
        await settled()
        if !isAsked, let report = await archiver?.rest() { return report }
        archiver?.begin(isAsked: isAsked)
        if let report = await archiver?.rest() { return report }
        // The pipeline is over, or has no archive any more.
        return await storeQueue(isAsked: isAsked)
    }

    /// Waits for what is being stored since takes of this pipeline were answered; nil when nothing was.
    package func restOfArchive() async -> ArchiveReport? {
        await settled()
        return await archiver?.rest()
    }

    func storeQueue(isAsked: Bool = false) async -> ArchiveReport {
        var report = ArchiveReport()
        guard let queue = spool?.queue else { return report }
        let unqueued = await onDisk { [archiver] in
            defer { if isAsked { archiver?.moveQueue() } }
            return archiver?.adopt()
        }
        var failed: Set<TakeID> = []
        while !Task.isCancelled {
            // A queue that cannot be read is told by those that wait.
            let takes = await onDisk { [failed] in
                (try? queue.takesToStore(isAsked: isAsked, but: failed)) ?? []  // None to read.
            }
            guard !takes.isEmpty else { break }
            let batch = ResendBatch(
                takes, jobs: 4,
                by: { take throws(TakeStoreError) in try DeliveryPlan(of: take) }, of: queue,
                in: self)
            for await resent in batch {
                let id = resent.kept.id
                failed.insert(id)
                switch resent.ending {
                case .outcome(let outcome, _):
                    guard case .failure(let failure) = outcome.result else { break }
                    if failure != .left { report.reason = report.reason ?? failure.description }
                    continue
                case .failed(let error):
                    report.reason = report.reason ?? error.description
                    continue
                case .skipped, .elsewhere, .left: continue
                }
                await settled()
                // An object that is not stored now goes on the next time.
                let isStored = await onDisk { try? queue.store().advance(id) } ?? nil
                guard let isStored else { continue }
                failed.remove(id)
                if isStored { report.stored += 1 }
            }
        }
        // An unreadable queue counts as empty.
        report.waiting = await onDisk { (try? queue.takes(where: .all).count) ?? 0 }
        report.waiting += unqueued?.waiting ?? 0
        report.reason = report.reason ?? unqueued?.reason
        return report
    }

    private func onDisk<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        // Without a thread the pool has to wait.
        let result = try? await NamedThread.result(name: "open") { body() }
        guard case .success(let value)? = result else { return body() }
        return value
    }
}

extension Spool {
    /// The takes of a queue of which an object can be sent now.
    fileprivate func takesToStore(
        isAsked: Bool, but failed: Set<TakeID>
    ) throws(TakeStoreError) -> [KeptTake] {
        guard let store = try existing() else { return [] }
        for take in try takes() where take.isAbandoned || take.state == .answered {
            store.recover(take.id)
            _ = try? store.advance(take.id)  // Its program ended before it could go on.
        }
        return KeptTake.inSendingOrder(
            try takes().filter { take in
                take.state == .kept && !failed.contains(take.id)
                    && (isAsked || take.mayBeStored(at: Date()))
            })
    }
}

extension KeptTake {
    private static let refusalPause = TimeInterval(86_400)

    fileprivate func mayBeStored(at now: Date) -> Bool {
        switch obstacle(waitingUpTo: nil, at: now) {
        case nil, .old, .doubtful: return true
        case .later: return false
        case .held:
            // A refusal at an unreadable time was long ago.
            let last = known?.history?.last?.ended.flatMap { try? Date($0, strategy: .iso8601) }
            return last.map { now.timeIntervalSince($0) >= Self.refusalPause } ?? true
        }
    }
}
