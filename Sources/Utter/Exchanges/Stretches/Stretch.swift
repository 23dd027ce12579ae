// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import SpeechService
internal import TakeStore

/// A place in a recording, between two of its units.
struct RecordingPlace: Sendable, Hashable {
    /// At 16 kHz, from the beginning of the recording.
    var frame = 0
    /// In bytes of the journal.
    var offset = 0

    /// A little later, by time and by bytes.
    func behind(_ frames: Int) -> RecordingPlace {
        RecordingPlace(
            frame: frame < .max ? frame + frames : 0, offset: offset < .max ? offset + frames : 0)
    }
}

/// A part of a recording that is too long for its service: it has a request of its own.
package struct Stretch: Sendable, Equatable {
    var start = RecordingPlace()
    /// nil: the end of the recording.
    var end: RecordingPlace?
    /// Frames at its beginning that the stretch before has as well, where there is no pause.
    package internal(set) var overlap = 0
    /// Its words, timed from its own beginning; nil while the service has not answered.
    private(set) var answer: Transcript?
    /// The same as the take's notes hold it.
    private(set) var notes: String?

    mutating func take(_ answer: Transcript) { (self.answer, notes) = (answer, answer.notes) }

    mutating func forget() { (answer, notes) = (nil, nil) }

    var isWhole: Bool { start.frame == 0 && end == nil }

    /// Whether the service has answered, and heard nothing in it.
    package var isUnheard: Bool { answer?.text.isEmpty ?? false }

    /// In seconds of the recording.
    package var beginning: Double { Double(start.frame) / 16_000 }

    /// The same of its end; nil while it grows.
    package var ending: Double? { end.map { Double($0.frame) / 16_000 } }

    /// How many words of a text that was heard in it there are a second; infinite while it grows.
    func rate(of text: Transcript) -> Double {
        ending.map { Double(text.wordCount) / Swift.max(0.001, $0 - beginning) } ?? .infinity
    }
}

/// The most that one request may carry.
struct StretchLimit: Sendable, Equatable {
    var frames = Int.max
    /// The bytes of the units, without a header.
    var byteCount = Int.max

    var isNone: Bool { frames == .max && byteCount == .max }

    /// A cut is looked for in this part of what the service takes, the last one.
    private static let sought = 4
    /// In seconds: a body that goes on waits no longer for its end, as servers close connections that
    /// are silent.
    private static let longestHold = 30

    /// The place at which the transfer thread stops sending a stretch until its end is known.
    func hold(from start: RecordingPlace, in format: AudioCodec) -> RecordingPlace {
        func hold(_ start: Int, _ limit: Int, _ longest: Int) -> Int {
            guard limit < .max else { return .max }
            return start + max(limit / Self.sought * (Self.sought - 1), limit - longest)
        }
        let frame = hold(start.frame, frames, Self.longestHold * 16_000)
        if format.isRaw, frame < .max {
            return RecordingPlace(frame: frame, offset: AudioCodec.pcm.bodyOffset + 2 * frame)
        }
        let longest = Self.longestHold * format.nominalByteRate
        return RecordingPlace(frame: frame, offset: hold(start.offset, byteCount, longest))
    }

    func allows(_ start: RecordingPlace, to end: RecordingPlace) -> Bool {
        end.frame - start.frame <= frames && end.offset - start.offset <= byteCount
    }
}

/// Spreads the requests of a take, so that no minute has more than a service allows.
struct RequestPace: Sendable {
    private let most: Int
    /// When the last ones begin, since the take began; the first is the oldest.
    private var begins: [Duration] = []

    /// So many a minute; nil: any number.
    init(_ most: Int?) { self.most = most ?? .max }

    /// A minute, and what requests may be late by.
    private static let minute = Duration.seconds(61)

    /// Counts the next request, at the time for which it is planned, and says when it may begin.
    mutating func next(from now: Duration, planned: Duration) -> Duration {
        guard begins.count >= most else {
            count(planned)
            return now
        }
        let begin = max(now, begins[0] + Self.minute)
        count(max(begin, planned))
        return begin
    }

    /// Counts a request that waits for no other.
    mutating func count(_ begin: Duration) {
        guard most < .max else { return }
        begins.append(begin)
        begins.sort()
        begins.removeFirst(max(0, begins.count - most))
    }
}

/// Asks where a recording can be cut, from `start` on, so that each stretch keeps a limit.
struct CutRequest: Sendable, Equatable {
    var start: RecordingPlace
    var limit: StretchLimit
    /// The first place at which it may be cut: the service may have what stands before it.
    var earliest = RecordingPlace()
    /// Where what is cut ends; nil while the recording goes on: one cut is enough then.
    var end: RecordingPlace?
    /// In frames: it is cut around each silence of this length instead; nil: to keep the limit.
    var silence: Int?
    /// It is cut where it ends by now instead, as no sound comes for a while.
    var isAtRest = false
}

struct StretchCut: Sendable, Equatable {
    /// Where one stretch ends.
    var end: RecordingPlace
    /// Where the next one begins: at the same place, before it where there is no pause, or behind a
    /// silence that is left out.
    var next: RecordingPlace
}

/// An exchange cannot go on without it.
enum StretchNeed: Sendable, Equatable {
    case cut(CutRequest)
    /// So many bytes of the recording.
    case growth(to: Int)
}

/// The stretch that a request carries.
struct StretchRequest: Sendable, Equatable {
    var start: RecordingPlace
    /// nil: it ends where the recording is cut, or at its end.
    var end: RecordingPlace?
    var before = HeardBefore()

    /// The part of an `Idempotency-Key` that tells it from the others; empty for one that began with the
    /// recording, as long as its end is not known.
    var mark: String {
        end.map { "-\(start.frame)-\($0.frame)" } ?? (start.frame > 0 ? "-\(start.frame)" : "")
    }
}

/// How far the body of a stretch goes.
struct StretchReach: Sendable, Equatable {
    /// Its last byte in the journal is before this one.
    var offset = Int.max
    var isFinal = false
    /// The frame from which on it waits for its end.
    var held = Int.max
}

extension TakeManifest {
    /// The stretches in which the take was sent, or is; empty when it was sent as a whole.
    package var stretches: [Stretch] { [Stretch](in: progress) }
}
