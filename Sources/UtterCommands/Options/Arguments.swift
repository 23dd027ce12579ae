// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Settings
package import Utter

/// A duration on the command line: `5s`, `300ms`, `1m30s`, `1:30`, `1:02:03`, or a number of
/// seconds.
package struct DurationArgument: Sendable {
    package let duration: Duration

    package init(parsing text: String) throws {
        guard let duration = DurationArgument(argument: text) else {
            throw ValidationError("write 5s, 1m30s, 500ms or 1:30")
        }
        self = duration
    }

    package init?(argument: String) {
        // A year is longer than any recording, and keeps the arithmetic within its range.
        guard let seconds = TimeText.seconds(argument), (0...366 * 86_400).contains(seconds)
        else { return nil }
        duration = .milliseconds(Int64((seconds * 1_000).rounded()))
    }
}

/// An age on the command line or in a variable: `7d`, `12h`, any duration with a unit, or 0.
///
/// A bare number is refused: seconds are what it would mean, and days what is meant.
struct AgeArgument {
    static let form = "an age with its unit, such as 30d or 12h"
    let duration: Duration

    init(parsing text: String) throws {
        guard let age = AgeArgument(text) else {
            throw ValidationError("write \(Self.form)")
        }
        self = age
    }

    init?(_ text: String) {
        if text.hasSuffix("d") {
            // A thousand years are enough, and keep the arithmetic in its range.
            guard let days = Double(text.dropLast()), (0...366_000).contains(days) else {
                return nil
            }
            duration = .seconds(days * 86_400)
        } else if let duration = DurationArgument(argument: text)?.duration,
            duration == .zero || text.last?.isLetter == true
        {
            self.duration = duration
        } else {
            return nil
        }
    }
}

/// How long the audio of an answered take stays: an age, `0`, or `forever`.
struct AudioTime: Sendable {
    static let form = "\(AgeArgument.form), forever, or 0"
    /// A thousand years stand for ever.
    let duration: Duration

    init(parsing text: String) throws {
        guard let time = AudioTime(text) else {
            throw ValidationError("write \(Self.form)")
        }
        self = time
    }

    init?(_ text: String) {
        guard text != "forever" else {
            duration = .seconds(366_000 * 86_400)
            return
        }
        guard let age = AgeArgument(text) else { return nil }
        duration = age.duration
    }
}

/// A number of bytes on the command line: `4G`, `500M`, `64k`, or a plain number.
///
/// The units are powers of 1,024.
struct SizeArgument {
    let byteCount: Int

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let shifts = ["": 0, "k": 10, "K": 10, "M": 20, "G": 30, "T": 40]
        guard let number = Int(digits), number < 1 << 20 || digits.count == argument.count,
            let shift = shifts[String(argument.dropFirst(digits.count))], number < 1 << 60
        else { return nil }
        byteCount = number << shift
    }
}

/// How fast a file is replayed: `realtime`, `max`, or a factor from 0.1 to 1000.
package struct PaceArgument: Sendable, CustomStringConvertible {
    package let pace: Pace

    static let unpaced = PaceArgument(pace: .unpaced)

    package static let realTime = PaceArgument(pace: .realTime)

    private init(pace: Pace) { self.pace = pace }

    package init(parsing text: String) throws {
        switch text {
        case "realtime": pace = .realTime
        case "max": pace = .unpaced
        default:
            guard let factor = Double(text), (0.1...1_000).contains(factor) else {
                throw ValidationError("write realtime, max or a factor from 0.1 to 1000")
            }
            pace = .times(factor)
        }
    }

    package var description: String {
        switch pace {
        case .realTime: "realtime"
        case .unpaced: "max"
        case .times(let factor): "\(factor)"
        }
    }
}

extension CaseIterable where Self: RawRepresentable<String> {
    /// Reads a word, of which there are so many that the parser would give each a line.
    init(parsing text: String) throws {
        guard let value = Self(rawValue: text) else {
            let words = Self.allCases.map(\.rawValue)
            throw ValidationError("write " + words.joined(separator: ", "))
        }
        self = value
    }
}
