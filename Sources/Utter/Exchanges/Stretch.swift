// SPDX-License-Identifier: Apache-2.0

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

    /// In seconds of the recording.
    package var beginning: Double { Double(start.frame) / 16_000 }
}

/// The most that one request may carry.
struct StretchLimit: Sendable, Equatable {
    var frames = Int.max
    /// The bytes of the units, without a header.
    var byteCount = Int.max

    var isNone: Bool { frames == .max && byteCount == .max }

    func allows(_ start: RecordingPlace, to end: RecordingPlace) -> Bool {
        end.frame - start.frame <= frames && end.offset - start.offset <= byteCount
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
}

struct StretchCut: Sendable, Equatable {
    /// Where one stretch ends.
    var end: RecordingPlace
    /// Where the next one begins: at the same place, or before it where there is no pause.
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
    package var stretches: [Stretch] { progress.flatMap { [Stretch](from: $0.values) } ?? [] }
}

extension [Stretch] {
    private static let (rows, words) = (ExchangeProgress.stretches, "answer-")

    /// Reads the notes of an earlier run.
    init?(from values: [String: String]) {
        self.init()
        for row in (values[Self.rows] ?? "").split(separator: "\n") {
            let numbers = row.split(separator: " ").map { Int($0) ?? -1 }
            guard numbers.count == 3 || numbers.count == 5, numbers.allSatisfy({ $0 >= 0 }) else {
                return nil
            }
            var stretch = Stretch(
                start: RecordingPlace(frame: numbers[0], offset: numbers[1]), overlap: numbers[2])
            if numbers.count == 5 {
                stretch.end = RecordingPlace(frame: numbers[3], offset: numbers[4])
            }
            // Words that cannot be read are asked for again.
            if let answer = values["\(Self.words)\(count)"].flatMap({ Transcript(notes: $0) }) {
                stretch.take(answer)
            }
            append(stretch)
        }
        guard !isEmpty else { return nil }
    }

    var values: [String: String] {
        var values: [String: String] = [:]
        for (index, stretch) in enumerated() {
            values["\(Self.words)\(index)"] = stretch.notes
        }
        values[Self.rows] = map { stretch in
            let (start, end) = (stretch.start, stretch.end)
            return "\(start.frame) \(start.offset) \(stretch.overlap)"
                + (end.map { " \($0.frame) \($0.offset)" } ?? "")
        }.joined(separator: "\n")
        return values
    }
}
