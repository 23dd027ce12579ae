// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import RecognitionEndpoint

@Suite struct LifecycleTests {
    // MARK: - Starting

    private func error(
        _ model: RecognitionModel
    ) async -> RecognitionEndpointError? {
        do throws(RecognitionEndpointError) {
            let endpoint = try RecognitionEndpoint(
                RecognitionEndpointConfiguration(recogniser: TestEndpoint.recogniser(model)))
            try await endpoint.run { _ in endpoint.shutdown() }
            return nil
        } catch {
            return error
        }
    }

    private func grammar(_ text: String, in folder: TemporaryFolder) throws -> RecognitionModel {
        .grammar(try folder.write(Array(text.utf8), to: "test.gram"))
    }

    @Test func aMissingLanguageModelNamesItsPackage() async throws {
        let path = RecognitionModel.debianFolder + "/none.lm.bin"
        let error = try #require(await error(RecognitionModel(search: .languageModel(path: path))))
        #expect(
            error.description
                == "the recogniser cannot be used: cannot read the language model '\(path)': "
                + "No such file or directory")
        #expect(error.hint?.contains("apt-get install pocketsphinx-en-us") == true)
    }

    @Test func aHostThatIsNoneIsNoneToListenOn() async throws {
        var configuration = RecognitionEndpointConfiguration(recogniser: TestEndpoint.recogniser())
        configuration.host = "no such host"
        let endpoint = try RecognitionEndpoint(configuration)
        await #expect {
            try await endpoint.run { _ in endpoint.shutdown() }
        } throws: {
            ("\($0)").hasPrefix("cannot listen on no such host:")
        }
    }

    @Test func aMissingDictionaryAndAcousticModelAreNamed() async throws {
        let absent = try TemporaryFolder().path("absent")
        var model = RecognitionModel.grammar(Samples.grammar)
        model.dictionaryPath = "\(absent)/words.dict"
        let dictionary = try #require(await error(model))
        #expect(
            dictionary.description.contains("cannot read the dictionary '\(absent)/words.dict'")
        )
        #expect(dictionary.hint == "check the path of the dictionary")
        model.acousticModelFolder = absent
        #expect(
            await error(model)?.description
                == "the recogniser cannot be used: cannot read the acoustic model '\(absent)': "
                + "No such file or directory")
    }

    @Test func aBrokenGrammarIsRefusedWithItsLine() async throws {
        let folder = try TemporaryFolder()
        let model = try grammar("#JSGF V1.0;\ngrammar g;\npublic <a> = go (forward;\n", in: folder)
        let error = try #require(await error(model))
        #expect(
            error.description.hasSuffix(
                "is not understood: line 3: ')' is missing behind 'forward'"))
        #expect(error.hint != nil)
    }

    @Test func aWordThatIsNotInTheDictionaryIsNamed() async throws {
        let folder = try TemporaryFolder()
        let model = try grammar("#JSGF V1.0; grammar g; public <a> = go xyzzyx;", in: folder)
        let error = try #require(await error(model))
        guard case .recogniserUnusable(let reason, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(reason.contains("xyzzyx"), "\(reason)")
        #expect(error.hint?.contains("dictionary") == true)
    }

    @Test func aDamagedLanguageModelIsRefusedAndDoesNotEndTheProcess() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([UInt8](repeating: 7, count: 5_000), to: "bad.lm.bin")
        let error = try #require(await error(RecognitionModel(search: .languageModel(path: path))))
        #expect(error.description.contains("PocketSphinx cannot use this model"), "\(error)")
    }

    @Test func aPortThatIsTakenIsSaid() async throws {
        try await TestEndpoint.run { port, _ in
            var configuration = RecognitionEndpointConfiguration(
                recogniser: TestEndpoint.recogniser())
            configuration.port = port
            let second = try RecognitionEndpoint(configuration)
            let reason = "Address already in use"
            await #expect(
                throws: RecognitionEndpointError.cannotListen(
                    host: "127.0.0.1", port: port, reason: reason)
            ) {
                try await second.run { _ in second.shutdown() }
            }
        }
    }

    @Test func loadingAndRecognisingPrintNothing() async {
        await #expect(
            processExitsWith: .success,
            observing: [\.standardOutputContent, \.standardErrorContent]
        ) {
            // Comments and a stray line are what PocketSphinx would echo.
            let text =
                "#JSGF V1.0;\n/* two\nlines */\ngrammar g;\npublic <a> = go forward ten meters;\n"
            let folder = try TemporaryFolder()
            let path = try folder.write(Array(text.utf8), to: "test.gram")
            try await TestEndpoint.run {
                $0.recogniser = TestEndpoint.recogniser(.grammar(path))
            } _: { port, _ in
                let answer = try await TestEndpoint.post(
                    Samples.wav("go-forward"), type: "audio/wav", to: port)
                precondition(answer.body == "go forward ten meters\n")
            }
            let broken = try folder.write(Array((text + "echo me").utf8), to: "broken.gram")
            let model = RecognitionModel.grammar(broken)
            let configuration = RecognitionEndpointConfiguration(
                recogniser: TestEndpoint.recogniser(model))
            let endpoint = try RecognitionEndpoint(configuration)
            // That it is refused is all that matters here.
            let run: Void? = try? await endpoint.run { _ in endpoint.shutdown() }
            precondition(run == nil)
        }
    }

    // MARK: - Stopping

    @Test func shutdownLetsARunningRecognitionFinishAndNobodyNewIn() async throws {
        let audio = try Samples.pcm("go-forward")
        let answer = try await TestEndpoint.run { port, endpoint in
            try await onThread {
                let client = try RawClient(port: port)
                try client.sendHead("/recognize", ["Content-Type: audio/pcm"])
                try client.sendChunk(audio.prefix(64_000))
                let head = try client.readHead()
                endpoint.shutdown()
                // Refused once the port is closed; clients that were let in before are sent away.
                while let other = try? RawClient(port: port) {
                    // A reset is as good an end as any.
                    do { _ = try other.readToEnd() } catch RawClient.Failure.reset {}
                }
                try client.sendChunk(audio.dropFirst(64_000))
                try client.sendEnd()
                return try client.readBody(head)
            }
        }
        #expect(answer.contains(#""text":"go forward ten meters","type":"final""#))
    }

    @Test func aRecognitionThatOutlastsTheGracePeriodIsGivenUp() async throws {
        let audio = try Samples.pcm("go-forward")
        try await TestEndpoint.run {
            $0.shutdownGracePeriod = .milliseconds(200)
        } _: { port, endpoint in
            try await onThread {
                let client = try RawClient(port: port)
                try client.sendHead("/recognize", ["Content-Type: audio/pcm"])
                try client.sendChunk(audio)
                _ = try client.readHead()
                endpoint.shutdown()
                // A reset is as good an end as any.
                let rest = (try? client.readToEnd()) ?? []
                #expect(!String(decoding: rest, as: UTF8.self).contains("final"))
            }
        }
    }

    @Test func cancellingTheTaskIsAShutdown() async throws {
        let endpoint = try RecognitionEndpoint(
            RecognitionEndpointConfiguration(recogniser: TestEndpoint.recogniser()))
        let (ports, ready) = AsyncStream.makeStream(of: Int.self)
        let server = Task { try await endpoint.run { ready.yield($0) } }
        _ = await ports.first { _ in true }
        server.cancel()
        try await server.value
        await #expect(throws: RecognitionEndpointError.alreadyUsed) {
            try await endpoint.run { _ in }
        }
    }
}
