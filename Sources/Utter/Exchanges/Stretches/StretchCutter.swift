// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import LinuxPlatform
internal import Synchronization
internal import TakeStore

/// Finds where a recording that is too long can be cut: in the longest pause of the last quarter of
/// what a request may carry, or else at the quietest 200 ms, which both sides of the cut then have.
///
/// A pause lasts 200 ms at least, and is no louder than the room: at most 6 dB above the quietest tenth
/// of the quarter, and 12 dB below the loudest. How loud it is was noted while it was encoded, or by an
/// earlier run; of the rest of a kept take the codec tells, and that is noted. The recording is read once,
/// in order, and blocks on the disk and for the codec: each call has a thread of its own, one after another.
final class StretchCutter: Sendable {
    private struct Boundary {
        var place: RecordingPlace
        /// The power of the unit behind it.
        var power: Double
    }

    private struct State {
        var reader: any AudioUnitReader
        var offset = 0
        /// Where the next unit begins.
        var place = RecordingPlace()
        /// The units from the beginning of the stretch on.
        var units: [Boundary] = []
    }

    private let journal: Journal
    private let codec: AudioCodec
    private let shortest: Int
    private let powers: PowerTrack
    private let state: Mutex<State>

    /// A unit lasts 20 ms.
    private static let pauseUnits = 10
    private static let overlap = 32_000
    /// Nothing that was said has less, whatever the room: five of 32,768.
    private static let silence = 25.0

    /// `shortest` in frames: nothing shorter is left behind the last cut.
    init(of journal: Journal, as codec: AudioCodec, shortest: Int, powers: PowerTrack) {
        (self.journal, self.codec, self.powers) = (journal, codec, powers)
        self.shortest = max(shortest, 16_000)
        state = Mutex(Self.start(of: codec, powers))
    }

    private var start: State { Self.start(of: codec, powers) }

    private static func start(of codec: AudioCodec, _ powers: PowerTrack) -> State {
        State(reader: codec.makeUnitReader { !powers.isLive && powers.end <= $0 })
    }

    enum Failure: Error {
        case unreadable(SystemError)
        case undecodable(UndecodableAudio)

        var reason: String {
            switch self {
            case .unreadable(let error): error.reason
            case .undecodable(let error): error.description
            }
        }
    }

    /// Empty when there is too little of the recording yet.
    func cuts(_ request: CutRequest) throws(Failure) -> [StretchCut] {
        try state.withLock { state throws(Failure) in
            if request.isAtRest {
                return try end(&state).map { [StretchCut(end: $0, next: $0)] } ?? []
            }
            if let length = request.silence {
                return try silences(&state, length, to: request.end)
            }
            var (cuts, start, earliest) = ([StretchCut](), request.start, request.earliest)
            repeat {
                guard let cut = try cut(&state, from: start, earliest, request) else { break }
                cuts.append(cut)
                (start, earliest) = (cut.next, cut.next)
            } while request.end.map { !request.limit.allows(start, to: $0) } ?? false
            return cuts
        }
    }

    private func cut(
        _ state: inout State, from start: RecordingPlace, _ earliest: RecordingPlace,
        _ request: CutRequest
    ) throws(Failure) -> StretchCut? {
        // A stretch that is cut again is read again.
        if state.units.first?.place.frame ?? state.place.frame > start.frame {
            state = self.start
        }
        let rest = min(shortest, request.limit.frames / 4)
        let lastFrame = request.end.map { $0.frame - rest } ?? .max
        while request.limit.allows(start, to: state.place), state.place.frame <= lastFrame,
            try readOn(&state)
        {}
        // The disk is late: a cut in what it has would make a stretch that is too short.
        guard !request.limit.allows(start, to: state.place) || state.place.frame > lastFrame else {
            return nil
        }
        state.units.removeAll { $0.place.frame < start.frame }
        let count = state.units.prefix {
            request.limit.allows(start, to: $0.place) && $0.place.frame <= lastFrame
        }.count
        guard count > 1 else { return nil }
        let reached = state.units[count - 1].place
        let sought = start.frame + (reached.frame - start.frame) / 4 * 3
        let first = state.units[..<count].firstIndex {
            $0.place.frame >= max(earliest.frame, sought) && $0.place.offset >= earliest.offset
        }
        let window = (first ?? count - 1)..<count
        let powers = state.units[window].map(\.power)
        let pause = Self.pause(in: powers)
        let middle = pause ?? Self.quietest(in: powers)
        let end = state.units[window.lowerBound + middle.lowerBound + middle.count / 2].place
        guard pause == nil else { return StretchCut(end: end, next: end) }
        let next = state.units.first {
            $0.place.frame >= max(end.frame - Self.overlap, (start.frame + end.frame) / 2)
        }
        return StretchCut(end: end, next: next?.place ?? end)
    }

    /// Where the recording ends by now; nil in the middle of a unit, of which a request may have a part.
    private func end(_ state: inout State) throws(Failure) -> RecordingPlace? {
        if codec.isRaw {
            let (header, offset) = (AudioCodec.pcm.bodyOffset, journal.byteCount)
            return RecordingPlace(frame: (offset - header) / 2, offset: offset)
        }
        while try readOn(&state) {}
        state.units.removeAll { $0.place.frame < state.place.frame }
        return state.place.offset == state.offset ? state.place : nil
    }

    /// Cuts around each silence that lasts as long, with a quarter of a second of it on both sides.
    private func silences(
        _ state: inout State, _ length: Int, to last: RecordingPlace?
    ) throws(Failure) -> [StretchCut] {
        state = start
        while try readOn(&state) {}
        let (units, end) = (state.units, last ?? state.place)
        state = start
        let powers = units.map(\.power)
        return Self.runs(in: powers, upTo: Self.silenceLimit(of: powers)).compactMap { run in
            let (first, isLast) = (run.lowerBound, run.upperBound == units.count)
            let behind = isLast ? end : units[run.upperBound].place
            guard behind.frame - units[first].place.frame >= length else { return nil }
            return StretchCut(
                end: units[first == 0 ? 0 : first + Self.margin].place,
                next: isLast ? end : units[run.upperBound - Self.margin].place)
        }
    }

    /// Units of a silence that are sent with what stands beside it.
    private static let margin = 12

    /// The power of a silence: 3 dB above the quietest tenth, and 18 dB below the loudest hundredth, so
    /// that no quiet voice is one.
    private static func silenceLimit(of powers: [Double]) -> Double {
        let sorted = powers.sorted()
        guard !sorted.isEmpty else { return silence }
        let (low, high) = (sorted[sorted.count / 10], sorted[sorted.count * 99 / 100])
        return max(silence, min(2 * low, high / 64))
    }

    /// Reads some units; false at the end of what is there.
    private func readOn(_ state: inout State) throws(Failure) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        var units: [AudioUnit] = []
        do throws(SystemError) {
            let count = try bytes.fill(from: journal, at: state.offset, to: 0)
            guard count > 0 else { return false }
            bytes.removeSubrange(count...)
            state.offset += count
        } catch {
            throw .unreadable(error)
        }
        do throws(UndecodableAudio) {
            try state.reader.take(bytes.span, into: &units)
        } catch {
            throw .undecodable(error)
        }
        for unit in units {
            if state.place.offset == 0 { state.place.offset = state.reader.headerByteCount ?? 0 }
            let middle = state.place.frame + unit.frameCount / 2
            let power = unit.power ?? powers.power(at: middle)
            state.units.append(Boundary(place: state.place, power: power))
            if unit.power != nil { powers.add(power, upTo: state.place.frame + unit.frameCount) }
            state.place.frame += unit.frameCount
            state.place.offset += unit.byteCount
        }
        return true
    }

    // MARK: - Pauses

    /// The longest pause; nil when there is none.
    static func pause(in powers: [Double]) -> Range<Int>? {
        let sorted = powers.sorted()
        guard let last = sorted.last else { return nil }
        let (low, high) = (
            sorted[sorted.count / 10], sorted[min(sorted.count * 9 / 10, sorted.count - 1)]
        )
        let limit = last <= silence ? silence : max(silence, min(4 * low, high / 16))
        let best = runs(in: powers, upTo: limit).reduce(0..<0) { $1.count > $0.count ? $1 : $0 }
        return best.count >= pauseUnits ? best : nil
    }

    /// The units that follow each other and are no louder than the limit.
    private static func runs(in powers: [Double], upTo limit: Double) -> [Range<Int>] {
        var (runs, start) = ([Range<Int>](), 0)
        for index in 0...powers.count where index == powers.count || powers[index] > limit {
            if index > start { runs.append(start..<index) }
            start = index + 1
        }
        return runs
    }

    /// The quietest 200 ms.
    static func quietest(in powers: [Double]) -> Range<Int> {
        guard powers.count > pauseUnits else { return 0..<powers.count }
        var sum = powers[..<pauseUnits].reduce(0, +)
        var (least, best) = (sum, 0)
        for start in 1...(powers.count - pauseUnits) {
            sum += powers[start + pauseUnits - 1] - powers[start - 1]
            if sum < least { (least, best) = (sum, start) }
        }
        return best..<(best + pauseUnits)
    }
}
