// SPDX-License-Identifier: Apache-2.0

internal import SpeechService

/// The parts of a recording that a service has, and those that are left to send.
struct PartsTable: Sendable, Equatable {
    enum Job: Sendable, Equatable {
        case whole
        /// The outermost is 0.
        case folder(Int)
        /// Looks for an upload that was made, and of which no answer told.
        case find
        case create
        /// Counts from 0.
        case part(Int)
        case complete
        case look
        case abort

        /// It ends the delivery.
        var isLast: Bool { self == .whole || self == .complete }
    }

    /// Whether an answer without a proof is one of a store, as far as one can see.
    enum Claim { case plain, odd }

    /// How far the upload is; one that was asked for may have been made.
    enum Stage { case none, asked, made }

    struct Part: Sendable, Equatable {
        /// Bytes of the body.
        let range: Range<Int>
        /// The service's tag for the part; nil while it is not stored.
        var tag: String?

        func isProved(by captured: [String: String]) -> Bool {
            StoreTag.areProof(captured, ofByteCount: range.count)
        }
    }

    /// In the order of the body, without holes.
    var parts: [Part] = []
    /// Parts that can be sent now.
    var queue: [Int] = []
    /// Values that the service has given the upload, such as its id.
    var captured: [String: String] = [:]
    var stage = Stage.none
    /// The first part waits for the end of the recording.
    private var isFirstHeld = false

    /// In bytes of the body, without what is not cut yet.
    var byteCount: Int { parts.last?.range.upperBound ?? 0 }

    var storedByteCount: Int { parts.reduce(0) { $0 + ($1.tag == nil ? 0 : $1.range.count) } }

    /// Nothing of what was cut is left to send.
    var isStored: Bool { parts.allSatisfy { $0.tag != nil } }

    var tags: [String] { parts.map { $0.tag ?? "" } }

    mutating func make(_ captured: [String: String]) {
        self.captured = captured
        stage = .made
    }

    mutating func cut(_ byteCount: Int) {
        parts.append(Part(range: self.byteCount..<(self.byteCount + byteCount)))
    }

    mutating func hold(_ byteCount: Int) {
        cut(byteCount)
        isFirstHeld = true
    }

    /// The recording is complete: its first bytes are what they are.
    mutating func release() {
        guard isFirstHeld else { return }
        isFirstHeld = false
        queue.append(0)
    }
}

extension PartsTable {
    private static let rows = "parts"
    private static let mark = "asked-for"

    /// Reads the notes of an earlier run; parts that were under way are sent again.
    init(from values: [String: String]) {
        self.init()
        if values[Self.mark] != nil { stage = .asked }
        guard let rows = values[Self.rows] else { return }
        for row in rows.split(separator: "\n") {
            // A tag may be empty.
            let words = row.split(
                separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard let count = words.first.flatMap({ Int($0) }), count >= 0 else {
                self = PartsTable()
                return
            }
            cut(count)
            if words.count > 1 {
                parts[parts.count - 1].tag = String(words[1])
            } else {
                queue.append(parts.count - 1)
            }
        }
        make(values.filter { $0.key != Self.rows })
    }

    var values: [String: String] {
        guard stage == .made else { return stage == .asked ? [Self.mark: "yes"] : [:] }
        let rows = parts.map { part in
            "\(part.range.count)" + (part.tag.map { " \($0)" } ?? "")
        }
        return captured.merging([Self.rows: rows.joined(separator: "\n")]) { _, rows in rows }
    }
}

/// The job of one of an exchange's lanes.
struct PartsLane {
    var job: PartsTable.Job
    var number: Int
    /// The number of the upload for which it was begun.
    var generation: Int
    /// In place of the step's own; a redirect leads there.
    var url: ServiceURL?
}

struct PartsEnd {
    let lane: PartsLane
    let index: Int
    var reply: Reply
    let isSpeaking: Bool
    let now: Moment
}

/// How long the parts are, and how many are sent at once: as measured.
struct PartsPace: Sendable {
    /// About how long a part takes on its connection.
    private static let partSeconds = 8.0
    /// Twice the connections are worth it if all of them are faster by this.
    private static let worthwhileGain = 1.15

    private let limit: Int
    private(set) var laneCount = 1
    /// `laneCount` before the last change.
    private var fewer = 1
    /// In bytes a second, of each of the last parts with this many connections.
    private var rates: [Double] = []
    /// In bytes a second of all connections.
    private var best = 0.0
    private var isSettled = false
    /// Parts that began with another number of connections are not counted.
    private var ignored = 0
    /// In bytes; nil before the first part.
    private(set) var partByteCount: Int?

    init(limit: Int) { self.limit = limit }

    /// So many that the parts that are left are enough, and that what is left is for all lanes.
    func partByteCount(
        of recording: RecordingExtent, behind table: PartsTable, by plan: PartsPlan
    ) -> Int {
        let rest = recording.byteCount - table.byteCount
        let left = max(1, plan.count - table.parts.count)
        let share = recording.isComplete ? rest / plan.parallel + 1 : rest
        let wanted = min(partByteCount ?? 0, plan.largest, share)
        return max(wanted, plan.smallest, (rest + left - 1) / left)
    }

    mutating func note(_ byteCount: Int, in duration: Duration?) {
        guard let duration, duration > .zero else { return }
        let rate = Double(byteCount) / (duration / .seconds(1))
        partByteCount = Int(min(rate * Self.partSeconds, 1e12))
        guard !isSettled else { return }
        guard ignored == 0 else { return ignored -= 1 }
        rates.append(rate)
        guard rates.count >= laneCount else { return }
        let all = rates.reduce(0, +) / Double(rates.count) * Double(laneCount)
        rates = []
        if all >= best * Self.worthwhileGain {
            best = all
            isSettled = laneCount == limit
            ignored = laneCount - 1
            (fewer, laneCount) = (laneCount, min(2 * laneCount, limit))
        } else {
            isSettled = true
            laneCount = fewer
        }
    }
}
