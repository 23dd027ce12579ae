// SPDX-License-Identifier: Apache-2.0

internal import CVoice

/// Tells a voice from the noise of the room, by WebRTC's detector, 10 ms at a time.
///
/// Used to decide when a take may end and what to say of it; never to leave out what is sent.
/// Safe because the detector is made and ended here, and never handed out.
@safe final class VoiceGate {
    /// Frames since a voice was last heard.
    private(set) var silentFrames = 0
    /// A voice without a pause, longer than a click.
    private(set) var hasHeardVoice = false

    /// Nil when memory ran out: everything then counts as voice.
    private let detector: OpaquePointer?
    private var part: [Int16] = []
    private var voicedFrames = 0

    /// 200 ms: a click, and what the detector adds to it, is shorter.
    private static let shortestVoice = 3_200

    init() {
        unsafe detector = utter_voice_make()
        part.reserveCapacity(Int(utter_voice_frames))
    }

    deinit {
        if let detector = unsafe detector { unsafe utter_voice_end(detector) }
    }

    /// 16 kHz.
    func hear(_ frames: Span<Int16>) {
        silentFrames += frames.count
        for index in frames.indices {
            part.append(frames[index])
            guard part.count == utter_voice_frames else { continue }
            if isVoice() {
                // What follows in `frames` has not been judged yet.
                silentFrames = frames.count - index - 1
                voicedFrames += part.count
                hasHeardVoice = hasHeardVoice || voicedFrames >= Self.shortestVoice
            } else {
                voicedFrames = 0
            }
            part.removeAll(keepingCapacity: true)
        }
    }

    private func isVoice() -> Bool {
        guard let detector = unsafe detector else { return true }
        return unsafe part.withUnsafeBufferPointer { part in
            guard let first = part.baseAddress else { return true }
            return unsafe utter_voice_hears(detector, first)
        }
    }
}
