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
        (["-f", "ogg", "-c:a", "libopus", "-ac", "6"], "Ogg Opus of several streams or channels"),
        (["-f", "mp2"], "MP2"), (["-f", "mp2", "-ar", "22050"], "MP2"), (["-f", "ac3"], "AC-3"),
        (["-f", "latm", "-c:a", "aac"], "AAC in LATM"), (["-f", "w64"], "Wave64"),
        (["-f", "mpegts"], "an MPEG transport stream"),
        (["-f", "mpegts", "-mpegts_m2ts_mode", "1"], "an MPEG transport stream"),
        (["-f", "vob"], "an MPEG program stream"), (["-f", "wv"], "WavPack"),
        (["-f", "tta"], "True Audio"),
        (
            ["-f", "wav", "-c:a", "pcm_alaw"],
            "WAV of another kind (byte 20, chunk 'fmt ': format tag 0x0006 (A-law) is not PCM)"
        ),
        (
            ["-f", "avi"],
            "WAV of another kind (byte 8: the RIFF form is 'AVI ', not 'WAVE')"
        ),
    ]

    /// Asks as a reader of a pipe does: for no more bytes than are wanted.
    private func type(of bytes: [UInt8]) -> InputType {
        var there = 0
        while true {
            let type = InputType(bytes.span.extracting(first: there))
            guard case .undecided(let wanted, _) = type, wanted > there, wanted <= bytes.count
            else {
                return type
            }
            there = wanted
        }
    }

    @Test func whatTheSystemsEncodersWriteIsNamed() throws {
        let folder = try TemporaryFolder()
        // A shell can give one ffmpeg the descriptors 3 to 9 to write into, without seeking.
        for start in stride(from: 0, to: Self.foreign.count, by: 7) {
            let group = Array(zip(3...9, Self.foreign[start...]))
            let files = group.map { number, _ in "\(number)>'\(folder.path("\(number)"))'" }
            let outputs = group.flatMap { number, kind in kind.0 + ["pipe:\(number)"] }
            let encode = #"exec ffmpeg -v error -i "$0" "$@" "# + files.joined(separator: " ")
            try ForeignTool("sh").run(["-c", encode, Clip.goForward.path] + outputs)
            for (number, (options, name)) in group {
                let bytes = try folder.read("\(number)")
                #expect(type(of: bytes) == .foreign(name), "\(options)")
            }
        }
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

    /// Beginnings, and what they are if nothing follows.
    static let others: [([UInt8], InputType)] = [
        ([], .unknown), (Array("OggS".utf8), .foreign("Ogg")), (Array("RIFF".utf8), .wav),
        (Array("fLaC".utf8), .coded(.flac)), (Array("ID3\u{3}".utf8), .foreign("MP3")),
        (Array("ID3\u{4}\0\0\0\0\0\u{2}\0\0fLaC".utf8), .coded(.flac)),
        (Array("a".utf8), .notSound("text")),
        (Array("Go forward".utf8), .notSound("text")), ([0x47, 0x80, 0, 1], .unknown),
        (Array("Grüße, 日本\n".utf8), .notSound("text")),
        ([0xFF, 0xFE] + "h\0e\0l\0l\0o\0".utf8, .notSound("text")),
        (Array("\u{FEFF}<?xml version='1.0'?>".utf8), .notSound("XML")),
        (Array("  <HTML><head>".utf8), .notSound("a web page (HTML)")),
        (Array("#EXTM3U\n".utf8), .notSound("a playlist")),
        (Array("PK\u{3}\u{4}\u{14}\0".utf8), .notSound("a zip archive or an office document")),
        ([0xFD] + "7zXZ\0".utf8, .notSound("packed by xz")),
        ([0x28, 0xB5, 0x2F, 0xFD, 4], .notSound("packed by zstd")),
        ([0x89] + "PNG\r\n".utf8, .notSound("a picture")),
        (Array("RIFF\0\0\0\0WEBPVP8 ".utf8), .notSound("a picture")),
        ([0, 0, 0, 24] + "ftypheic".utf8, .notSound("a picture")),
        (
            Array("talk.wav".utf8) + [UInt8](repeating: 0, count: 249) + Array("ustar\0".utf8),
            .notSound("a tar archive")
        ),
    ]

    @Test(arguments: others)
    func aBeginningIsSettledAtItsEnd(_ bytes: [UInt8], _ type: InputType) {
        #expect(InputType(bytes.span).settled == type)
    }

    /// A pipe delivers what is asked for; a live one must not be kept waiting.
    @Test func aVoiceIsKnownSoon() throws {
        for clip in [Clip.goForward, .digits, .cards, .speech] {
            let bytes = Array(try readFile(clip.path).dropFirst(200))
            for start in stride(from: 0, to: bytes.count - 2_000, by: 254) {
                let piece = Array(bytes[start..<start + 2_000])
                guard case .undecided(let wanted, let type) = type(of: piece) else {
                    #expect(type(of: piece) == .unknown)
                    continue
                }
                // A sample that is like the head of a frame waits for the next two.
                #expect(wanted < 24_000 && type == .unknown)
            }
        }
    }
}
