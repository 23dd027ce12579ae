// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// A place where a file is not what it should be, and behind which its decoder goes on.
package struct AudioFlaw: Sendable, Equatable {
    /// Where it is, in frames from the first one, silence in place of earlier ones included.
    package let start: Int
    /// Frames of silence that belong there, before the frames that follow; 0 where nothing is lost,
    /// or the file does not say how much.
    package private(set) var frames = 0
    /// A predicate about the file: "is damaged at byte 4711".
    package let text: String

    package init(start: Int, frames: Int = 0, text: String) {
        (self.start, self.frames, self.text) = (start, frames, text)
    }
}

extension [AudioFlaw] {
    /// Hands samples that begin at the frame `position` over, with the silence that belongs between
    /// them, in pieces.
    package func weave<Failure: Error>(
        _ samples: [Int16], from position: inout Int, channels: Int,
        _ take: (Span<Int16>) throws(Failure) -> Void
    ) throws(Failure) {
        var rest = samples.span
        for flaw in self where flaw.frames > 0 {
            let part = rest.extracting(first: Swift.max(0, flaw.start - position) * channels)
            try take(part)
            rest = rest.extracting(droppingFirst: part.count)
            let silence = [Int16](repeating: 0, count: 1_600 * channels)
            for start in stride(from: 0, to: flaw.frames, by: 1_600) {
                let count = Swift.min(1_600, flaw.frames - start)
                try take(silence.span.extracting(first: count * channels))
            }
            position = flaw.start + flaw.frames
        }
        try take(rest)
        position += rest.count / channels
    }
}

/// The flaws of a file that a person is told of: the first ones, and how many more there are.
package struct FlawSummary: Sendable {
    private static let limit = 5
    private var texts: [String] = []
    private var count = 0

    package init() {}

    package mutating func add(_ flaws: [String]) {
        count += flaws.count
        texts += flaws.prefix(Self.limit - texts.count)
    }

    /// A sentence about the recording of this name, which may end with more; nil without anything.
    package func sentence(about name: String, ending: String? = nil) -> String? {
        let more = count > texts.count ? "has \(count - texts.count) more flaws" : nil
        let parts = texts + [more, ending].compactMap(\.self)
        return parts.isEmpty ? nil : name + " " + parts.joined(separator: ", and ")
    }
}

/// A decoder's account: how many frames there are, and between which of them some are missing.
struct DecodedTimeline {
    /// More than this many seconds are not a hole: the recording goes on at another place.
    private static let longestHole = 60

    private(set) var frameCount = 0
    /// Where bytes begin that were not understood, since the last frame or page.
    var damage: Int?
    private var flaws: [AudioFlaw] = []

    mutating func add(_ frames: Int) { frameCount += frames }

    /// Says of damage behind the last frame that it is not sound.
    mutating func noteEnd() {
        guard let damage else { return }
        note("has bytes behind its end, at byte \(damage), that are not sound")
    }

    mutating func note(_ text: String) { flaws.append(AudioFlaw(start: frameCount, text: text)) }

    /// Makes lost frames silence, unless they are too many, or the whole would be more than a file
    /// of that size can hold; fewer than none are a way back.
    ///
    /// The frame behind them is at the offset, and whole: it ends the damage.
    mutating func lose(_ frames: Int, sampleRate: Int, capacity: Int, before offset: Int) {
        let time = (Double(frames) * 1_000 / Double(sampleRate)).rounded() / 1_000
        let damaged = damage.map { "is damaged at byte \($0)" }
        if frames < 0 {
            note("begins anew at byte \(damage ?? offset)")
        } else if frames > Self.longestHole * sampleRate || frameCount + frames > capacity {
            let jump = "jumps ahead by \(time) s"
            note(damaged.map { "\($0), and \(jump)" } ?? "\(jump) at byte \(offset)")
        } else if frames > 0 {
            let text = "\(damaged ?? "lacks sound at byte \(offset)") (\(time) s are silent)"
            flaws.append(AudioFlaw(start: frameCount, frames: frames, text: text))
            frameCount += frames
        } else if let damaged {
            note(damaged)
        }
        damage = nil
    }

    mutating func take() -> [AudioFlaw] {
        defer { flaws = [] }
        return flaws
    }
}
