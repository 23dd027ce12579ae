// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
internal import Synchronization
package import TakeStore

/// How a fleet stands, by the listings of its store.
package struct FleetStatus: Codable, Sendable, Equatable {
    /// Takes without a mark: those that wait, and those that workers have.
    package var waiting = 0
    package var working = 0
    package var done = 0
    package var dead = 0
    /// The same in seconds of audio, by the mean of some that have a mark; nil when none has.
    package var estimatedWaitingSeconds: Double?
    package var estimatedWorkingSeconds: Double?
    package var estimatedDoneSeconds: Double?
    package var estimatedDeadSeconds: Double?
    /// The oldest take without a mark.
    package var oldest: String?
    package var oldestAge: Double?
    /// Marks of the last hour, for each minute in which there were any.
    package var marksPerMinute: Double?
    package var estimatedEnd: String?
    /// Whether the queue has answered; without it all that is open waits.
    package var hasQueue = false

    /// Looks through the store; blocks.
    package init(_ store: ObjectStore, _ queue: (any WorkQueue)?, at now: Date = Date()) throws {
        var takes = ListingReader(store, FleetLayout.takes)
        var marks = CountedMarks(store, since: now.addingTimeInterval(-3_600))
        var merge = ListingMerge()
        var open = 0
        while let object = try takes.next() {
            guard let id = FleetLayout.take(ofManifest: object.key) else { continue }
            let finding = try merge.finding(of: id) { () throws(StoreFailure) in try marks.next() }
            let isMarked =
                finding == .unsure
                ? try store.has(FleetLayout.mark(of: id)) : finding == .marked
            if isMarked {
                done += 1
            } else {
                open += 1
                oldest = oldest ?? id.text
            }
        }
        dead = try Self.count(store, FleetLayout.dead)
        let again = try Self.count(store, FleetLayout.again)
        done = max(0, done - dead - again)
        open += again
        // A queue that does not answer is said, and the store counts.
        let counts = try? queue?.counts()
        hasQueue = counts != nil
        working = min(open, counts?.leased ?? 0)
        waiting = open - working
        estimate(try marks.meanDuration(), marks: marks, at: now)
    }

    private mutating func estimate(
        _ mean: Double?, marks: borrowing CountedMarks, at now: Date
    ) {
        if let mean {
            estimatedWaitingSeconds = Double(waiting) * mean
            estimatedWorkingSeconds = Double(working) * mean
            estimatedDoneSeconds = Double(done) * mean
            estimatedDeadSeconds = Double(dead) * mean
        }
        oldestAge = oldest.flatMap { TakeID($0)?.date }.map { max(0, now.timeIntervalSince($0)) }
        guard let rate = marks.rate, rate > 0 else { return }
        marksPerMinute = rate
        let minutes = Double(waiting + working) / rate
        estimatedEnd = now.addingTimeInterval(minutes * 60).formatted(.iso8601)
    }

    private static func count(_ store: ObjectStore, _ beginning: String) throws -> Int {
        var objects = ListingReader(store, beginning)
        var count = 0
        while let object = try objects.next() {
            if FleetLayout.take(ofMark: object.key) != nil { count += 1 }
        }
        return count
    }

    package var json: [UInt8] { encoded(self) }
}

/// The listing of the marks, with what it says of time.
private struct CountedMarks: ~Copyable {
    private let store: ObjectStore
    private var objects: ListingReader
    private let since: String
    /// So many marks are read for the mean.
    private static let sampleLimit = 64
    private var sample: [TakeID] = []
    private var count = 0
    private var recent = 0
    /// Minutes in which there was a mark, as ISO 8601 has them.
    private var minutes: Set<Substring> = []

    init(_ store: ObjectStore, since: Date) {
        self.store = store
        objects = ListingReader(store, FleetLayout.results)
        self.since = since.formatted(.iso8601)
    }

    mutating func next() throws(StoreFailure) -> TakeID? {
        while let object = try objects.next() {
            guard let id = FleetLayout.take(ofMark: object.key) else { continue }
            count += 1
            if object.modified.prefix(19) >= since.prefix(19) {
                recent += 1
                minutes.insert(object.modified.prefix(16))
            }
            // Each has the same chance to be among them.
            if sample.count < Self.sampleLimit {
                sample.append(id)
            } else {
                let place = Int.random(in: 0..<count)
                if place < sample.count { sample[place] = id }
            }
            return id
        }
        return nil
    }

    var rate: Double? { minutes.isEmpty ? nil : Double(recent) / Double(minutes.count) }

    func meanDuration() throws -> Double? {
        let (rest, store) = (SharedList(sample), store)
        let box = Sum()
        try Lanes.run {
            rest.next()
        } _: { id in
            guard let found = try store.get(FleetLayout.mark(of: id)),
                let duration = ResultMark(found.bytes)?.duration
            else { return }
            box.add(duration)
        }
        return box.mean
    }
}

private final class Sum: Sendable {
    private let state = Mutex((seconds: 0.0, count: 0))

    func add(_ seconds: Double) {
        state.withLock { $0 = ($0.seconds + seconds, $0.count + 1) }
    }

    var mean: Double? { state.withLock { $0.count > 0 ? $0.seconds / Double($0.count) : nil } }
}

/// Deaths, and how they are taken back.
package struct Deaths: Sendable {
    private let store: ObjectStore
    private let queue: (any WorkQueue)?

    package init(_ store: ObjectStore, _ queue: (any WorkQueue)?) {
        (self.store, self.queue) = (store, queue)
    }

    /// The dead, in the order of their names, with their marks.
    package func all() throws -> [ResultMark] {
        let objects = SharedDeaths(store)
        let found = FoundMarks()
        let store = store
        try Lanes.run {
            try objects.next()
        } _: { id in
            guard let bytes = try store.get(FleetLayout.mark(of: id))?.bytes,
                let mark = ResultMark(bytes), mark.outcome == .death
            else { return }
            found.add(mark)
        }
        return found.all
    }

    /// Opens a dead take again.
    ///
    /// - Returns: whether it was dead.
    package func retry(_ id: TakeID) throws -> Bool {
        guard let found = try store.get(FleetLayout.mark(of: id)),
            let death = ResultMark(found.bytes),
            death.outcome == .death
        else { return false }
        let place = QueuedTake(id: id, key: death.key ?? FleetLayout.manifest(of: id))
        var last = 0
        var objects = ListingReader(store, FleetLayout.attempts(of: id))
        while let object = try objects.next() {
            let name = object.key.split(separator: "/").last ?? ""
            last = max(last, Int(name.dropLast(".json".count)) ?? 0)
        }
        // Found by the reconciler, if the queue loses what comes now.
        _ = try store.put(FleetLayout.again(id), place.bytes)
        var mark = ResultMark(.again, of: id)
        mark.forgiven = last
        (mark.reason, mark.key, mark.duration) = (death.reason, death.key, death.duration)
        guard
            try store.put(FleetLayout.mark(of: id), mark.bytes, if: .unchanged(tag: found.tag))
        else { return false }
        try store.remove(FleetLayout.dead(id))
        _ = try queue?.publish(place, seconds: death.duration ?? 0)
        return true
    }
}

private final class SharedDeaths: Sendable {
    private let reader: Mutex<ListingReader>

    init(_ store: ObjectStore) { reader = Mutex(ListingReader(store, FleetLayout.dead)) }

    func next() throws -> TakeID? {
        try reader.withLock { reader in
            while let object = try reader.next() {
                if let id = FleetLayout.take(ofMark: object.key) { return id }
            }
            return nil
        }
    }
}

private final class FoundMarks: Sendable {
    private let marks = Mutex<[ResultMark]>([])

    func add(_ mark: ResultMark) { marks.withLock { $0.append(mark) } }

    var all: [ResultMark] { marks.withLock { $0.sorted { $0.id.text < $1.id.text } } }
}
