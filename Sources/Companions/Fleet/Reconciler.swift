// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization
internal import TakeStore

/// Puts takes without a mark into the queue: new ones, and those that the queue has lost.
///
/// The queue refuses what it has, so that a look costs messages and nothing else.
package final class Reconciler: Sendable {
    private struct State {
        /// The newest take that was seen, by its name.
        var newest = ""
        /// Names that were seen within the overlap of looks.
        var seen: Set<String> = []
        /// The line that was told last.
        var told: String?
    }

    private let store: ObjectStore
    private let queue: NATSQueue
    private let numbers: FleetNumbers
    /// Is told what a person should look at, in one line.
    private let tell: @Sendable (String) -> Void
    private let state = Mutex(State())
    /// A take's name says when it began, and its recorder may be late with it: names this much older
    /// than the newest are looked at each time.
    private static let overlap = TimeInterval(600)
    private static let seenLimit = 200_000
    /// So many new takes are looked at before the next page of the listing.
    private static let batch = 1_000

    package init(
        _ store: ObjectStore, _ queue: NATSQueue, numbers: FleetNumbers = FleetNumbers(),
        tell: @escaping @Sendable (String) -> Void
    ) {
        (self.store, self.queue, self.numbers, self.tell) = (store, queue, numbers, tell)
    }

    /// Goes through all takes and all marks, and writes texts that a mark lacks; how many takes were
    /// put into the queue.
    package func checkAll(unless isOver: () -> Bool = { false }) throws -> Int {
        try queue.prepare()
        var count = 0
        let misplaced = try store.eachTake { id, object, isMarked in
            remember(id)
            if !isMarked, try publish(id, object) { count += 1 }
            return !isOver()
        }
        let isNews = state.withLock { state in
            defer { state.told = misplaced }
            return state.told != misplaced
        }
        if let misplaced, isNews { tell(misplaced) }
        let texts = try store.putMissingTexts(unless: isOver)
        if texts > 0 { tell("wrote the texts of \(texts) \(texts == 1 ? "take" : "takes")") }
        return try count + checkAgain()
    }

    /// Publishes takes that a person has opened again, and forgets those that have a mark since.
    private func checkAgain() throws -> Int {
        var count = 0
        var hints = ListingReader(store, FleetLayout.again)
        while let (id, hint) = try hints.nextTake() {
            let found = try store.get(FleetLayout.mark(of: id))
            guard let mark = found.flatMap({ ResultMark($0.bytes) }), mark.isOpen else {
                // A retry that was killed has left a hint before its mark: the person sees that.
                try store.remove(hint.key)
                continue
            }
            // It says where the manifest is.
            guard let place = try store.get(hint.key).flatMap({ QueuedTake($0.bytes) }),
                place.id == id
            else { continue }
            if try queue.publish(place) { count += 1 }
        }
        return count
    }

    /// Looks for new takes of today and yesterday alone.
    func look(unless isOver: () -> Bool) throws -> Int {
        var count = 0
        let (newest, now) = (state.withLock { $0.newest }, Date())
        let since = TakeID(newest)?.date.map { $0.addingTimeInterval(-Self.overlap) }
        for day in [now.addingTimeInterval(-86_400), now] {
            let folder = "\(FleetLayout.takes)\(day.formatted(.iso8601).prefix(10))/"
            let last = since.map { folder + TakeID.start(at: $0) }
            var takes = ListingReader(store, folder, after: last)
            while !isOver() {
                var found: [(id: TakeID, object: ListedObject)] = []
                while found.count < Self.batch, !isOver(), let take = try takes.nextTake() {
                    if isNew(take.id) { found.append((take.id, take.object)) }
                }
                if found.isEmpty { break }
                // Looks in turn would let a store that is far away set the pace of all recorders.
                count += try Lanes.run(found) { [self] take in
                    try !store.has(FleetLayout.mark(of: take.id)) && publish(take.id, take.object)
                }.count(where: \.self)
                for take in found { remember(take.id) }
            }
        }
        return count
    }

    private func publish(_ id: TakeID, _ object: ListedObject) throws(QueueFailure) -> Bool {
        let isNew = try queue.publish(QueuedTake(id: id, key: object.key))
        if isNew { numbers.add(.published) }
        return isNew
    }

    private func isNew(_ id: TakeID) -> Bool { !state.withLock { $0.seen.contains(id.text) } }

    private func remember(_ id: TakeID) {
        state.withLock { state in
            state.newest = max(state.newest, id.text)
            let limit = TakeID(state.newest)?.date.map { TakeID.start(at: $0 - Self.overlap) } ?? ""
            guard id.text >= limit else { return }
            if state.seen.count >= Self.seenLimit { state.seen = state.seen.filter { $0 >= limit } }
            // Where there are more, they are looked at each time.
            if state.seen.count < Self.seenLimit { state.seen.insert(id.text) }
        }
    }
}
