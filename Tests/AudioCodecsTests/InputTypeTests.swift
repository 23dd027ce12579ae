// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs

@Suite struct InputTypeTests {
    /// What the system's encoders make of a clip, and what people call that.
    static let foreign = [
        (["-f", "mp3"], "MP3"), (["-f", "mp3", "-id3v2_version", "0", "-write_xing", "0"], "MP3"),
        (["-f", "mp3", "-ar", "11025", "-id3v2_version", "0"], "MP3"),
        (["-f", "mp3", "-ar", "48000", "-id3v2_version", "0"], "MP3"),
        (["-f", "adts"], "AAC"),
        (["-f", "mp4", "-movflags", "frag_keyframe+empty_moov"], "MP4 (M4A)"),
        (["-f", "webm"], "WebM (Matroska)"), (["-f", "aiff"], "AIFF"), (["-f", "au"], "AU"),
        (["-f", "caf"], "CAF"), (["-f", "asf"], "WMA"),
        (["-f", "ogg", "-c:a", "flac"], "Ogg FLAC"),
        (["-f", "ogg", "-c:a", "libvorbis"], "Ogg Vorbis"),
    ]

    /// Asks as a reader of a pipe does: for no more bytes than are wanted.
    private func type(of bytes: [UInt8]) -> InputType {
        var there = 0
        while true {
            let type = InputType(bytes.span.extracting(first: there))
            guard case .undecided(let wanted) = type, wanted > there, wanted <= bytes.count else {
                return type
            }
            there = wanted
        }
    }

    @Test(arguments: foreign)
    func whatTheSystemsEncodersWriteIsNamed(_ options: [String], _ name: String) throws {
        let bytes = try ForeignTool("ffmpeg").run(
            ["-v", "error", "-i", Clip.goForward.path] + options + ["-"]
        ).output
        #expect(type(of: bytes) == .foreign(name))
    }

    @Test func whatWeReadIsKnown() throws {
        let samples = TestSignal.voice(frames: 1_600, sampleRate: 16_000)
        #expect(type(of: WAVBytes.speech(samples)) == .wav)
        #expect(try type(of: OggOpusEncoder().file(of: samples)) == .coded(.oggOpus))
    }

    @Test func aVoiceAndNoiseAreNone() {
        var random = SeededRandom()
        let voice = WAVBytes.pcm(TestSignal.voice(frames: 20_000, sampleRate: 16_000))
        let noise = WAVBytes.pcm(random.noise(count: 20_000))
        for _ in 0..<1_000 {
            let start = 2 * Int.random(in: 0..<10_000, using: &random)
            #expect(type(of: Array(voice[start...])) == .unknown)
            // Loud samples that begin like a frame are followed by none.
            for second: UInt8 in [0xFB, 0xF3, 0xE3, 0xF1] {
                let found = type(of: [0xFF, second, 0x50, 0x80] + noise[start...])
                #expect(found == .unknown, "seed \(random.seed)")
            }
        }
        #expect(type(of: [UInt8](repeating: 0, count: 100)) == .unknown)
        #expect(type(of: [UInt8](repeating: 0xFF, count: 100)) == .unknown)
    }

    @Test func tooFewBytesAreSaidToBe() {
        #expect(type(of: []) == .undecided(byteCount: 4))
        #expect(type(of: Array("OggS".utf8)) == .undecided(byteCount: 27))
    }
}
