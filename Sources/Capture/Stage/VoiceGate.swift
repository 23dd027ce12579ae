// SPDX-License-Identifier: Apache-2.0

internal import CVoice

/// The library that tells a voice from noise.
package enum VoiceDetector {
    /// Its name and generation; nil where the program was built without one, so that all sound counts
    /// as voice.
    package static var name: String? {
        unsafe utter_voice_detector().map { unsafe String(cString: $0) }
    }
}

/// Tells a voice from the noise of the room, by WebRTC's detector, 10 ms at a time.
///
/// Used to decide when a take may end and what to say of it; never to leave out what is sent.
/// Safe because the detector is made and ended here, and never handed out.
@safe final class VoiceGate {
    /// Frames since a voice was last heard.
    private(set) var silentFrames = 0
    /// A voice without a pause, longer than a click.
    private(set) var hasHeardVoice = false

    /// The detector; nil when there is none, or no memory: all sound then counts as voice.
    private let detector: OpaquePointer?
    /// Frames that have not been judged.
    private var waiting: [Int16] = []
    private var voicedFrames = 0

    /// 200 ms: a click, and what the detector adds to it, is shorter.
    private static let shortestVoice = 3_200
    /// The frames that are judged in retrospect, 400 ms: a detector takes the 200 ms behind a
    /// voice for one, and needs some time to know the room again.
    private static let keptFrames = 6_400

    init() {
        unsafe detector = utter_voice_make()
        waiting.reserveCapacity(2 * Self.keptFrames + 4_800)
    }

    deinit {
        if let detector = unsafe detector { unsafe utter_voice_end(detector) }
    }

    /// A silence is counted anew, behind a pause.
    func beginAnew() {
        (silentFrames, voicedFrames) = (0, 0)
        waiting.removeAll(keepingCapacity: true)
    }

    /// 16 kHz; unless it `matters` whether a voice is in them, the frames wait for `judge`.
    func hear(_ frames: Span<Int16>, matters: Bool = true) {
        silentFrames += frames.count
        unsafe frames.withUnsafeBufferPointer { unsafe waiting.append(contentsOf: $0) }
        if matters {
            judge()
        } else if waiting.count > 2 * Self.keptFrames {
            waiting.removeFirst(waiting.count - Self.keptFrames)
        }
    }

    /// Looks for a voice in what has been heard, or in the last 400 ms at least.
    func judge() {
        let part = Int(utter_voice_frames)
        var start = 0
        while start + part <= waiting.count {
            if isVoice(at: start) {
                silentFrames = waiting.count - start - part
                voicedFrames += part
                hasHeardVoice = hasHeardVoice || voicedFrames >= Self.shortestVoice
            } else {
                voicedFrames = 0
            }
            start += part
        }
        waiting.removeFirst(start)
    }

    private func isVoice(at start: Int) -> Bool {
        guard let detector = unsafe detector else { return true }
        return unsafe waiting.withUnsafeBufferPointer { frames in
            guard let first = frames.baseAddress else { return true }
            return unsafe utter_voice_hears(detector, first + start)
        }
    }
}
