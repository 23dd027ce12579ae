// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization
package import TakeStore

/// Puts takes without a mark into the queue: new ones, and those that the queue has lost.
///
/// The queue refuses what it has, so that a look costs messages and nothing else.
package final class Reconciler: Sendable {
    private struct State {
        /// The newest take that was seen, by its name.
        var newest = ""
        /// Names that were seen within the overlap of looks.
        var seen: Set<String> = []
    }

    private let store: ObjectStore
    private let queue: any WorkQueue
    private let numbers: FleetNumbers
    private let state = Mutex(State())
    /// A take's name says when it began, and its recorder may be late with it: names this much older
    /// than the newest are looked at each time.
    private static let overlap = TimeInterval(600)
    private static let seenLimit = 200_000

    package init(_ store: ObjectStore, _ queue: any WorkQueue, numbers: FleetNumbers) {
        (self.store, self.queue, self.numbers) = (store, queue, numbers)
    }

    /// Goes through all takes and all marks.
    ///
    /// - Returns: how many takes were put into the queue.
    package func checkAll(unless isOver: () -> Bool = { false }) throws -> Int {
        try queue.prepare()
        var count = 0
        var marks = MarkListing(store)
        var takes = ListingReader(store, FleetLayout.takes)
        var merge = ListingMerge()
        while !isOver(), let object = try takes.next() {
            guard let id = FleetLayout.take(ofManifest: object.key) else { continue }
            remember(id)
            let finding = try merge.finding(of: id) { () throws(StoreFailure) in try marks.next() }
            if finding == .marked { continue }
            if finding == .unsure, try store.has(FleetLayout.mark(of: id)) { continue }
            if try publish(id, object) { count += 1 }
        }
        return try count + checkAgain()
    }

    /// Publishes takes that a person has opened again, and forgets those that have a mark since.
    private func checkAgain() throws -> Int {
        var count = 0
        var hints = ListingReader(store, FleetLayout.again)
        while let hint = try hints.next() {
            guard let id = FleetLayout.take(ofMark: hint.key) else { continue }
            let found = try store.get(FleetLayout.mark(of: id))
            guard let mark = found.flatMap({ ResultMark($0.bytes) }), mark.isOpen else {
                // One that dies while it retries leaves a hint before the mark: the person sees that.
                try store.remove(hint.key)
                continue
            }
            // It says where the manifest is.
            guard let place = try store.get(hint.key).flatMap({ QueuedTake($0.bytes) }),
                place.id == id
            else { continue }
            if try queue.publish(place, seconds: mark.duration ?? 0) { count += 1 }
        }
        return count
    }

    /// Looks for new takes of today and yesterday alone.
    package func look(unless isOver: () -> Bool = { false }) throws -> Int {
        var count = 0
        let (newest, now) = (state.withLock { $0.newest }, Date())
        let since = TakeID(newest)?.date.map { $0.addingTimeInterval(-Self.overlap) }
        for day in [now.addingTimeInterval(-86_400), now] {
            let folder = "\(FleetLayout.takes)\(day.formatted(.iso8601).prefix(10))/"
            let last = since.map { folder + Self.name($0) }
            var takes = ListingReader(store, folder, after: last)
            while !isOver(), let object = try takes.next() {
                guard let id = FleetLayout.take(ofManifest: object.key), isNew(id),
                    try !store.has(FleetLayout.mark(of: id))
                else { continue }
                if try publish(id, object, seconds: seconds(of: object)) { count += 1 }
                remember(id)
            }
        }
        return count
    }

    /// How names begin at a moment.
    private static func name(_ date: Date) -> String {
        String(date.formatted(.iso8601).filter { $0.isNumber || $0 == "T" }.prefix(15))
            .replacing("T", with: "-")
    }

    private func publish(
        _ id: TakeID, _ object: ListedObject, seconds: Double = 0
    ) throws(QueueFailure) -> Bool {
        let isNew = try queue.publish(QueuedTake(id: id, key: object.key), seconds: seconds)
        if isNew { numbers.change { $0.published += 1 } }
        return isNew
    }

    /// How long a new take is; of thousands that may wait already, that is not worth a request each.
    private func seconds(of object: ListedObject) -> Double {
        // A worker says what is wrong with it.
        guard let found = try? store.get(object.key, limit: WorkManifest.byteLimit),
            // As above.
            let manifest = try? WorkManifest(found.bytes, at: object.key, limit: .max)
        else { return 0 }
        return manifest.seconds
    }

    private func isNew(_ id: TakeID) -> Bool { !state.withLock { $0.seen.contains(id.text) } }

    private func remember(_ id: TakeID) {
        state.withLock { state in
            state.newest = max(state.newest, id.text)
            let limit = TakeID(state.newest)?.date.map { Self.name($0 - Self.overlap) } ?? ""
            guard id.text >= limit else { return }
            if state.seen.count >= Self.seenLimit { state.seen = state.seen.filter { $0 >= limit } }
            // Where there are more, they are looked at each time.
            if state.seen.count < Self.seenLimit { state.seen.insert(id.text) }
        }
    }
}

/// The takes that have a mark, in the order of the listing.
package struct MarkListing: ~Copyable {
    private var objects: ListingReader

    package init(_ store: ObjectStore) { objects = ListingReader(store, FleetLayout.results) }

    package mutating func next() throws(StoreFailure) -> TakeID? {
        while let object = try objects.next() {
            // Texts stand beside the marks.
            if let id = FleetLayout.take(ofMark: object.key) { return id }
        }
        return nil
    }
}
