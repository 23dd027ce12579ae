// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore
@testable import RecognitionEndpoint

/// The same recording gets the same text, whatever was heard before and however it came.
@Suite struct SameTextTests {
    /// What the pool hears in a recording that comes in pieces of random length.
    private func recognition(
        of audio: [UInt8], by pool: RecogniserPool, _ random: inout SeededRandom
    ) async throws -> Recognition {
        let job = try RecognitionJob(.pcm(.speech, isBigEndian: false))
        #expect(pool.submit(job))
        for piece in random.pieces(of: audio.count, upTo: 5_000) {
            await job.body.append(Array(audio[piece]))
        }
        job.body.finish()
        while true {
            switch await job.events.next() {
            case .partial, .stored, .appended, .refused: continue
            case .final(let recognition): return recognition
            case .failed(let failure): throw failure
            }
        }
    }

    @Test func aTextDoesNotDependOnWhatWasHeardBefore() async throws {
        let model = TestEndpoint.recogniser(.languageModel)
        // The first words of each; what the decoder makes of them differs with what it knows.
        func words(_ name: String) throws -> [UInt8] { Array(try Samples.pcm(name).prefix(56_000)) }
        var random = SeededRandom()
        let unused = RecogniserPool(model, maximumCount: 1)
        let fresh = try await recognition(of: words("cards-three"), by: unused, &random)
        await unused.stop()
        #expect(!fresh.words.isEmpty)
        let pool = RecogniserPool(model, maximumCount: 1)
        for name in ["cards-three", "go-forward", "cards-three", "digits-29340", "cards-three"] {
            let heard = try await recognition(of: words(name), by: pool, &random)
            // The text, its words, their times and their probabilities.
            #expect(name != "cards-three" || heard == fresh, "seed \(random.seed)")
        }
        await pool.stop()
    }

    @Test(arguments: [44_100, 48_000, 8_000])
    func soundOfAnotherRateIsConvertedTheSameHoweverItIsCut(rate: Int) throws {
        let format = StreamFormat(sampleRate: rate, channelCount: 1)
        let audio = try Samples.pcm("go-forward")
        var random = SeededRandom()
        func samples(_ pieces: [Range<Int>]) throws -> [Int16] {
            var decoder = try BodyDecoder(.pcm(format, isBigEndian: false))
            var samples: [Int16] = []
            for piece in pieces {
                try decoder.decode(audio.span.extracting(piece), into: &samples)
            }
            try decoder.finish(into: &samples)
            return samples
        }
        let whole = try samples([audio.indices])
        let cut = try samples(random.pieces(of: audio.count, upTo: 3_000))
        #expect(cut == whole, "seed \(random.seed)")
    }
}
