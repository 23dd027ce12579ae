// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Where in a recording a sound of our own can be heard, in frames at 16 kHz from its start.
///
/// Written by the one who plays the sound, read by any thread. While a sound is played, its end is
/// not known: nothing behind its beginning is to be sent until it is.
package final class CueSpans: Sendable {
    /// No sound of ours is longer, in frames: one second.
    package static let longest = 16_000

    private struct State {
        var spans: [Range<Int>] = []
        var open: Int?
    }

    private let state = Mutex(State())
    private let hasAny = Atomic(false)

    package init() {}

    /// Whether a sound was ever begun; without one a read needs neither lock nor array.
    // acquiring: partner of the release in `begin`, which comes before the frames with the sound.
    package var isEmpty: Bool { !hasAny.load(ordering: .acquiring) }

    package func restore(_ spans: [Range<Int>]) {
        state.withLock { $0.spans = spans }
        hasAny.store(!spans.isEmpty, ordering: .releasing)
    }

    /// A sound is about to be played, and is in none of the frames before this one.
    package func begin(at frame: Int) {
        state.withLock { $0.open = max(0, frame) }
        hasAny.store(true, ordering: .releasing)
    }

    /// The sound has been heard, and is in none of the frames from this one on.
    package func end(at frame: Int) {
        state.withLock { state in
            guard let start = state.open else { return }
            let end = min(max(frame, start), start + Self.longest)
            state.open = nil
            if end > start { state.spans.append(start..<end) }
        }
    }

    /// All spans; one whose end is not known is as long as it may become.
    package var all: [Range<Int>] {
        state.withLock { state in
            state.spans + (state.open.map { [$0..<($0 + Self.longest)] } ?? [])
        }
    }

    /// How many of the first `count` frames can be sent: all before a cue whose end is not known.
    package func settledFrames(of count: Int) -> Int {
        guard let open = state.withLock({ $0.open }), count < open + Self.longest else {
            return count
        }
        return min(count, open)
    }

    /// Replaces by silence what of these samples, the first of which is a frame's, is in a span.
    package func silence(_ samples: inout [Int16], from frame: Int) {
        for span in all {
            for index in span.clamped(to: frame..<(frame + samples.count)) {
                samples[index - frame] = 0
            }
        }
    }
}

extension TakeManifest {
    /// The spans in which a cue is heard.
    ///
    /// A pair that is not a span is left out: the file may have been changed.
    package var cueSpans: [Range<Int>] {
        (cues ?? []).compactMap { pair in
            // No recording of ours has so many frames that two bytes each could not be counted.
            guard pair.count == 2, (0...1 << 40).contains(pair[0]),
                (1...CueSpans.longest).contains(pair[1])
            else { return nil }
            return pair[0]..<(pair[0] + pair[1])
        }
    }

    package mutating func setCues(_ spans: [Range<Int>]) {
        cues = spans.isEmpty ? nil : spans.map { [$0.lowerBound, $0.count] }
    }
}
