// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import Capture
@testable import LinuxPlatform
@testable import RecognitionEndpoint

/// How a body's bytes are handed over and become samples.
@Suite struct BodyTests {
    // MARK: - Decoding

    private func decode(
        _ bytes: [UInt8], _ type: AudioMediaType, in pieces: [Range<Int>]
    ) throws -> [Int16] {
        var decoder = try BodyDecoder(type)
        var samples: [Int16] = []
        for piece in pieces {
            try decoder.decode(bytes.span.extracting(piece), into: &samples)
        }
        try decoder.finish(into: &samples)
        return samples
    }

    @Test func bytesOneByOneGiveTheSamplesOfTheFile() throws {
        for name in ["go-forward", "jfk"] {
            let wav = try Samples.wav(name)
            let path = "\(Samples.folder)/\(name).wav"
            let expected = try ForeignTool("sox").run([path, "-t", "s16", "-"]).samples
            #expect(try decode(wav, .file(.wav), in: wav.indices.map { $0..<$0 + 1 }) == expected)
        }
    }

    @Test(arguments: [8, 24, 32])
    func samplesCutInTheirMiddleAreWhole(bits: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("audio.wav")
        try ForeignTool("sox").run(["\(Samples.folder)/go-forward.wav", "-b", "\(bits)", path])
        let wav = try folder.read("audio.wav")
        var random = SeededRandom()
        let pieces = random.pieces(of: wav.count, upTo: 500)
        let whole = try decode(wav, .file(.wav), in: [wav.indices])
        #expect(try decode(wav, .file(.wav), in: pieces) == whole, "seed \(random.seed)")
        #expect(whole.count == 44_580)
    }

    @Test(arguments: [44_100, 48_000, 8_000])
    func soundOfAnotherRateIsConvertedTheSameHoweverItIsCut(rate: Int) throws {
        let type = AudioMediaType.pcm(
            StreamFormat(sampleRate: rate, channelCount: 1), isBigEndian: false)
        let audio = try Samples.pcm("go-forward")
        var random = SeededRandom()
        let whole = try decode(audio, type, in: [audio.indices])
        let pieces = random.pieces(of: audio.count, upTo: 3_000)
        #expect(try decode(audio, type, in: pieces) == whole, "seed \(random.seed)")
    }

    @Test func aHalfSampleAtTheEndIsDropped() throws {
        let type = AudioMediaType.pcm(.speech, isBigEndian: true)
        #expect(try decode([1, 2, 3], type, in: [0..<3]) == [0x0102])
    }

    @Test(arguments: [1, 3_000])
    func lostSoundBecomesSilenceAndIsSaid(upTo limit: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("audio.flac")
        try ForeignTool("flac").run(["-s", "-b", "1024", "-o", path, Clip.goForward.path])
        var flac = try folder.read("audio.flac")
        let frame = FLACFile(flac).frames[7]
        flac[frame.startIndex + 100] ^= 1
        var random = SeededRandom()
        var decoder = try BodyDecoder(.file(.flac))
        var samples: [Int16] = []
        for piece in random.pieces(of: flac.count, upTo: limit) {
            try decoder.decode(flac.span.extracting(piece), into: &samples)
        }
        try decoder.finish(into: &samples)
        #expect(samples.count == 44_580)
        #expect(samples[7_168..<8_192].allSatisfy { $0 == 0 })
        #expect(decoder.gaps == [RecognitionGap(start: 0.448, duration: 0.064)])
        let notice = "the recording is damaged at byte \(frame.startIndex) (0.064 s are silent)"
        #expect(decoder.notices == [notice])
        let answer = AnswerFormat.object.final(
            Recognition(text: "go", notices: [notice], gaps: decoder.gaps))
        #expect(answer.contains("\"gaps\":[{") && answer.contains("\"notices\":[\"the recording"))
    }

    @Test func aMixThatWouldLoseAVoiceIsSaid() throws {
        var bytes: [UInt8] = []
        for frame in 0..<32_000 {
            for sample in [frame % 200 * 50, -(frame % 200 * 50)] {
                bytes += [
                    UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8),
                ]
            }
        }
        let format = StreamFormat(sampleRate: 16_000, channelCount: 2)
        var decoder = try BodyDecoder(.pcm(format, isBigEndian: false))
        var heard: [Int16] = []
        try decoder.decode(bytes.span, into: &heard)
        try decoder.finish(into: &heard)
        #expect(heard.contains { $0 != 0 })
        #expect(decoder.notices == [SignalState.cancelling.text])
    }

    // MARK: - The file between connection and recogniser

    private func file() throws -> BodyFile {
        try BodyFile(in: RecognitionEndpointConfiguration.usualTemporaryFolder)
    }

    private func told(_ taken: BodyFile.Taken?) -> String {
        switch taken {
        case nil: "nothing"
        case .bytes(let bytes): "\(bytes)"
        case .end: "the end"
        case .failed(let failure): "failed: \(failure)"
        }
    }

    @Test func whatWasReadIsReadOnceMoreAndAFailureOvertakesTheRest() async throws {
        let file = try file()
        await file.append([1, 2, 3])
        #expect(told(file.take(at: 0)) == "[1, 2, 3]")
        await file.append([4])
        #expect(told(file.take(at: 3)) == "[4]")
        #expect(told(file.take(at: 4)) == "nothing")
        #expect(told(file.take(at: 1)) == "[2, 3, 4]")
        await file.append([5])
        file.fail(.brokenOff)
        file.finish()
        #expect(told(file.take(at: 4)) == "failed: \(BodyFailure.brokenOff)")
        #expect(file.failure == .brokenOff)
    }

    @Test func aClosedFileDropsWhatComes() async throws {
        let file = try file()
        #expect(told(file.take(at: 0)) == "nothing")
        file.close()
        await file.append([1, 2, 3])
        file.finish()
        #expect(told(file.take(at: 0)) == "the end")
    }

    @Test func aFolderThatTakesNoFileIsSaid() throws {
        let folder = try TemporaryFolder()
        #expect(throws: SystemError.self) { try BodyFile(in: folder.path("absent")) }
    }

    // MARK: - Events

    @Test func aNewPartialTextReplacesOneThatNobodyRead() async {
        let events = RecognitionEvents()
        let newer = PartialRecognition(text: "b", time: 2)
        events.post(.partial(PartialRecognition(text: "a", time: 1)))
        events.post(.partial(newer))
        #expect(await events.next() == .partial(newer))
        events.post(.partial(newer))
        events.post(.final(Recognition()))
        #expect(await events.next() == .final(Recognition()))
    }
}
