// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore
@testable import RecognitionEndpoint
@testable import UtterEarCLI

/// The program `utter-ear`, as the endpoint sees it.
@Suite struct PocketSphinxTests {
    // MARK: - Models

    private func error(_ options: [String]) async -> RecognitionEndpointError? {
        await #expect(throws: RecognitionEndpointError.self) {
            let endpoint = try RecognitionEndpoint(
                RecognitionEndpointConfiguration(recogniser: TestEndpoint.recogniser(options)))
            try await endpoint.run { _ in endpoint.shutdown() }
        }
    }

    @Test func aMissingModelNamesItsPackage() async throws {
        let path = "/usr/share/pocketsphinx/model/en-us/none.lm.bin"
        let error = try #require(await error(["-lm", path]))
        #expect(
            error.description
                == "the recogniser cannot be used: PocketSphinx cannot use this model: "
                + "File \(path) not found")
        #expect(error.hint?.contains("apt-get install pocketsphinx-en-us") == true)
        // A damaged model is refused as well.
        let folder = try TemporaryFolder()
        let bad = try folder.write([UInt8](repeating: 7, count: 5_000), to: "bad.lm.bin")
        let other = try #require(await self.error(["-lm", bad]))
        #expect(other.description.contains("PocketSphinx cannot use this model"), "\(other)")
    }

    @Test(arguments: [
        (["-dict", "/absent/words"], "'/absent/words'"), (["-hmm", "/absent"], "'/absent'"),
        (["-jsgf", "/absent.gram"], "/absent.gram"), (["-bogus", "1"], "'-bogus'"),
    ])
    func theFileOrOptionThatItCannotUseIsNamed(_ options: [String], _ name: String) async throws {
        let error = try #require(await error(options))
        #expect(error.description.contains(name), "\(error)")
        #expect(error.hint?.hasPrefix("check that each file is there") == true)
    }

    @Test(arguments: [
        ("#JSGF V1.0;\ngrammar g;\npublic <a> = go (forward;\n", "syntax error at line 3"),
        ("#JSGF V1.0; grammar g; public <a> = go xyzzyx;", "'xyzzyx'"),
        ("#JSGF V1.0; grammar g; public <a> = go <b>;", "<g.b>"),
        ("#JSGF V1.0; grammar g; <a> = go;", "No public rules found"),
    ])
    func aGrammarThatCannotBeUsedIsRefusedWithThePlace(
        _ text: String, _ place: String
    ) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(text.utf8), to: "test.gram")
        let error = try #require(await error(["-jsgf", path]))
        #expect(error.description.contains(place), "\(error)")
    }

    /// PocketSphinx prints words that it does not expect in a grammar.
    @Test func whatALibraryPrintsIsNoLineOfTheProgram() async throws {
        let folder = try TemporaryFolder()
        let text =
            "#JSGF V1.0;\n/* two\nlines */\ngrammar g;\npublic <a> = go forward ten meters;\necho me"
        let path = try folder.write(Array(text.utf8), to: "test.gram")
        let answer = try await TestEndpoint.answer(
            Samples.wav("go-forward"), type: "audio/wav"
        ) { $0.recogniser = TestEndpoint.recogniser(["-jsgf", path]) }
        #expect(answer.body == "go forward ten meters\n")
    }

    // MARK: - Texts

    @Test(
        arguments: [
            ("a(2)", "a"), ("meters", "meters"), ("<sil>", nil), ("</s>", nil), ("[NOISE]", nil),
            ("(NULL)", nil), ("++COUGH++", nil), ("", nil), ("f(x)", "f(x)"), ("(2)", "(2)"),
        ] as [(String, String?)])
    func marksAreNoPartOfAWord(marked: String, word: String?) {
        #expect(PocketSphinxDecoder.plainWord(of: marked[...]) == word)
    }

    @Test func aHypothesisWithoutMarks() {
        #expect(
            PocketSphinxDecoder.plainText(of: "<s> a(2) real <sil> boy [SPEECH] </s>")
                == "a real boy")
    }

    // MARK: - The same text for the same recording, whatever was heard before and however it came

    /// Has the pool recognise a recording that comes in pieces of random length.
    private func recognition(
        of audio: [UInt8], by pool: RecogniserPool, _ random: inout SeededRandom
    ) async throws -> Recognition {
        let job = try RecognitionJob(.pcm(.speech, isBigEndian: false))
        #expect(pool.submit(job))
        for piece in random.pieces(of: audio.count, upTo: 5_000) {
            await job.body.append(Array(audio[piece]))
        }
        job.body.finish()
        guard case .final(let recognition) = await job.events.end() else {
            throw RecognitionEndpointError.serverFailed(reason: "it gives no final text")
        }
        return recognition
    }

    @Test func aTextDoesNotDependOnWhatWasHeardBefore() async throws {
        let model = TestEndpoint.recogniser([])
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
}
