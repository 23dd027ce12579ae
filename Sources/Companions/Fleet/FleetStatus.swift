// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
package import TakeStore

/// How a fleet stands, by the listings of its store.
package struct FleetStatus: Encodable, Sendable {
    /// Takes without a mark: those that wait, and those that workers have.
    package private(set) var waiting = 0
    package private(set) var working = 0
    package private(set) var done = 0
    package private(set) var dead = 0
    /// The same in seconds of audio, by the mean of some that have a mark; nil when none has.
    package private(set) var estimatedWaitingSeconds: Double?
    package private(set) var estimatedWorkingSeconds: Double?
    package private(set) var estimatedDoneSeconds: Double?
    package private(set) var estimatedDeadSeconds: Double?
    /// The oldest take without a mark.
    package private(set) var oldest: String?
    package private(set) var oldestAge: Double?
    /// Marks of the last hour, for each minute in which there were any.
    package private(set) var marksPerMinute: Double?
    package private(set) var estimatedEnd: String?
    /// Which manifests lie where none is looked for, in one line.
    package private(set) var misplaced: String?
    /// Whether the queue has answered; without it all that is open waits.
    var hasQueue = false

    /// Looks through the store; blocks.
    package init(_ store: ObjectStore, _ queue: NATSQueue?, at now: Date = Date()) throws {
        var marks = CountedMarks(since: now.addingTimeInterval(-3_600))
        var open = 0
        misplaced = try store.eachTake(markSeen: { marks.note($0, $1) }) { id, _, isMarked in
            if isMarked {
                done += 1
            } else {
                open += 1
                oldest = oldest ?? id.text
            }
            return true
        }
        dead = try store.takes(FleetLayout.dead).count
        let again = try store.takes(FleetLayout.again).count
        done = max(0, done - dead - again)
        open += again
        // A queue that does not answer is said, and the store counts.
        let counts = try? queue?.counts()
        hasQueue = counts != nil
        working = min(open, counts?.leased ?? 0)
        waiting = open - working
        estimate(try marks.meanDuration(in: store), rate: marks.rate, at: now)
    }

    private mutating func estimate(_ mean: Double?, rate: Double?, at now: Date) {
        if let mean {
            estimatedWaitingSeconds = Double(waiting) * mean
            estimatedWorkingSeconds = Double(working) * mean
            estimatedDoneSeconds = Double(done) * mean
            estimatedDeadSeconds = Double(dead) * mean
        }
        oldestAge = oldest.flatMap { TakeID($0)?.date }.map { max(0, now.timeIntervalSince($0)) }
        guard let rate, rate > 0 else { return }
        marksPerMinute = rate
        let minutes = Double(waiting + working) / rate
        estimatedEnd = now.addingTimeInterval(minutes * 60).formatted(.iso8601)
    }

    package var json: [UInt8] { encoded(self) }
}

/// The marks of a listing, counted by time.
private struct CountedMarks {
    private let since: String
    /// So many marks are read for the mean.
    private static let sampleLimit = 64
    private var sample: [TakeID] = []
    private var count = 0
    private var recent = 0
    /// Minutes in which there was a mark, as ISO 8601 has them.
    private var minutes: Set<Substring> = []

    init(since: Date) { self.since = since.formatted(.iso8601) }

    mutating func note(_ id: TakeID, _ object: ListedObject) {
        count += 1
        if object.modified.prefix(19) >= since.prefix(19) {
            recent += 1
            minutes.insert(object.modified.prefix(16))
        }
        // Each has the same chance to be among them.
        if sample.count < Self.sampleLimit {
            sample.append(id)
        } else if let place = (0..<count).randomElement(), place < sample.count {
            sample[place] = id
        }
    }

    var rate: Double? { minutes.isEmpty ? nil : Double(recent) / Double(minutes.count) }

    func meanDuration(in store: ObjectStore) throws -> Double? {
        let durations = try Lanes.run(sample) { id in
            try store.get(FleetLayout.mark(of: id)).flatMap { ResultMark($0.bytes)?.duration }
        }.compactMap(\.self)
        return durations.isEmpty ? nil : durations.reduce(0, +) / Double(durations.count)
    }
}

extension ObjectStore {
    /// The marks of the dead, in the order of their names.
    package func deaths() throws -> [ResultMark] {
        let marks = try Lanes.run(takes(FleetLayout.dead)) { [self] id in
            try get(FleetLayout.mark(of: id)).flatMap { ResultMark($0.bytes) }
        }
        return marks.compactMap { $0?.outcome == .death ? $0 : nil }
            .sorted { $0.id.text < $1.id.text }
    }

    /// Opens a take again; false when it was not dead.
    package func retry(_ id: TakeID, in queue: NATSQueue?) throws -> Bool {
        guard let found = try get(FleetLayout.mark(of: id)),
            let death = ResultMark(found.bytes),
            death.outcome == .death
        else { return false }
        let place = QueuedTake(id: id, key: death.key ?? FleetLayout.manifest(of: id))
        // Found by the reconciler, if the queue loses what comes now.
        _ = try put(FleetLayout.again(id), place.bytes)
        var mark = ResultMark(.again, of: id)
        mark.forgiven = try attempts(of: id).max() ?? 0
        (mark.reason, mark.key, mark.duration) = (death.reason, death.key, death.duration)
        guard try put(FleetLayout.mark(of: id), mark.bytes, if: .unchanged(tag: found.tag))
        else { return false }
        try remove(FleetLayout.dead(id))
        _ = try queue?.publish(place)
        return true
    }

    /// The takes whose hints or marks stand there, in the order of the listing.
    func takes(_ beginning: String) throws(StoreFailure) -> [TakeID] {
        var objects = ListingReader(self, beginning)
        var takes: [TakeID] = []
        while let (id, _) = try objects.nextTake() { takes.append(id) }
        return takes
    }
}
