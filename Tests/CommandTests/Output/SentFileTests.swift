// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A file that cannot be delivered is kept once, however often it is sent.
@Suite struct SentFileTests {
    /// A service that is busy twice.
    private func busy() throws -> RecordingServer {
        try RecordingServer(
            scripts: [.answer(status: 503, text: "busy"), .answer(status: 503, text: "busy")],
            otherwise: .answer(text: "at last"))
    }

    private func send(_ bench: Bench, _ words: String...) async throws -> CommandResult {
        try await bench.start(["send", "-c", "retry.never=true"] + words).result()
    }

    /// Sends a file as fast as it was spoken, and a signal in the middle of it.
    private func sendInPart(_ bench: Bench, _ signal: Int32) async throws -> CommandResult {
        let run = try bench.start(["send", "--pace", "realtime", Clip.digits.path])
        _ = try #require(await bench.server?.wait(untilBytes: 6_400))
        run.signal(signal)
        return try await run.result()
    }

    @Test func eachTryGoesOnWithTheSameTake() async throws {
        let server = try busy()
        let bench = try Bench(server: server)
        #expect(try await send(bench, Clip.digits.path).status == .exited(75))
        let take = try #require(try bench.onlyTake())
        // The same file under another name.
        let copy = try bench.folder.write(try readFile(Clip.digits.path), to: "copy.wav")
        #expect(try await send(bench, copy).status == .exited(75))
        #expect(try bench.onlyTake()?.id == take.id)
        let result = try await send(bench, Clip.digits.path)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText == "at last\n")
        #expect(try bench.onlyTake()?.id == take.id)
        // The service sees one take that is tried again.
        let ids = server.requests.map { $0.values(of: "Idempotency-Key") }
        #expect(Set(ids).count == 1)
        #expect(server.requests.map(\.body).allSatisfy { $0 == server.requests[0].body })
    }

    @Test func aFileThatIsSentElsewhereIsATakeOfItsOwn() async throws {
        let bench = try Bench(server: busy())
        #expect(try await send(bench, Clip.digits.path).status == .exited(75))
        let other = try RecordingServer(otherwise: .answer(text: "elsewhere"))
        let result = try await send(bench, Clip.digits.path, "--to", other.url())
        #expect(result.outputText == "elsewhere\n")
        #expect(try bench.takes().count == 2)
    }

    @Test func onlyWhatWaitsIsNoted() async throws {
        let bench = try Bench(server: busy())
        let note = bench.folder.path("state/utter/takes-of-files")
        let text = { String(decoding: try readFile(note), as: UTF8.self) }
        #expect(try await send(bench, Clip.digits.path).status == .exited(75))
        #expect(try await send(bench, Clip.goForward.path).status == .exited(75))
        let ids = try bench.takes().map(\.id)
        let sizes = try [Clip.digits, .goForward].map { try readFile($0.path).count }
        #expect(try text() == "\(ids[0]) \(sizes[0])\n\(ids[1]) \(sizes[1])\n")
        #expect(try await send(bench, Clip.digits.path).status == .exited(0))
        // It is found out when the file is sent once more.
        #expect(try await send(bench, Clip.digits.path).status == .exited(0))
        #expect(try text() == "\(ids[1]) \(sizes[1])\n")
        // Without the note, the file is copied once more.
        #expect(unlink(note) == 0)
        #expect(try await send(bench, Clip.goForward.path).status == .exited(0))
        #expect(try bench.takes().count == 4)
    }

    @Test(arguments: ["ogg-opus", "flac", "wav"])
    func theFormatDoesNotMatter(_ format: String) async throws {
        let bench = try Bench()
        for _ in 0..<2 {
            let result = try await send(bench, Clip.digits.path, "--format", format)
            #expect(result.status == .exited(75))
            #expect(try bench.takes().count == 1)
        }
    }

    @Test func anotherFileOrAnotherServiceIsAnotherTake() async throws {
        let bench = try Bench()
        _ = try await send(bench, Clip.digits.path)
        _ = try await send(bench, Clip.cards.path)
        #expect(try bench.takes().count == 2)
        _ = try await send(bench, Clip.digits.path, "--to", "http://127.0.0.1:9/other")
        #expect(try bench.takes().count == 3)
        _ = try await send(bench, Clip.digits.path, "--to", "http://127.0.0.1:9/other")
        #expect(try bench.takes().count == 3)
    }

    @Test(arguments: [SIGTERM, SIGHUP])
    func aFileThatWasReadInPartIsReadAnew(_ signal: Int32) async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readOn]], otherwise: .answer(text: "all of it"))
        let bench = try Bench(server: server)
        let cut = try await sendInPart(bench, signal)
        #expect(cut.status == .exited(128 + signal))
        #expect(cut.errorText.contains("hint: that is a part only: send the file once more"))
        let part = try #require(try bench.onlyTake())

        #expect(try await send(bench, Clip.digits.path).outputText == "all of it\n")
        let whole = try #require(server.requests.last?.body)
        #expect(whole == Array(try readFile(Clip.digits.path).dropFirst(44)))
        #expect(try bench.takes().count == 2)
        // What is there of it can be sent all the same, and is said to be a part.
        let again = try await bench.run("retry", part.id)
        #expect(again.outputText == "all of it\n")
        #expect(
            again.errorText.contains(
                "warning: not whole: the end of '\(Clip.digits.path)' may be missing"))
        let rest = try #require(server.requests.last?.body)
        #expect(rest.count < whole.count && whole.starts(with: rest))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aPipeThatWasReadInPartCanBeSentByTheNameOfItsTakeAlone(_ signal: Int32) async throws {
        let server = try RecordingServer(otherwise: [.readHead, .readOn])
        let bench = try Bench(server: server)
        let run = try bench.start(["send", "-"], input: .pipe)
        run.write(Array(try Clip.digits.samples))
        _ = try #require(await server.wait(untilBytes: 6_400))
        run.signal(signal)
        let cut = try await run.result()
        #expect(cut.status == .exited(128 + signal))
        let id = try #require(try bench.onlyTake()?.id.asInHints)
        #expect(
            cut.errorText.hasSuffix("hint: send it again with: utter retry \(id)\n"),
            "\(cut.errorText)")
    }

    @Test func aStopInMidFileIsToldWithItsText() async throws {
        let bench = try Bench(server: .hearing("a part"))
        let result = try await sendInPart(bench, SIGUSR1)
        #expect(result.status == .exited(0))
        #expect(result.outputText == "a part\n")
        let warning = "warning: the rest of '\(Clip.digits.path)' was not read"
        #expect(result.errorText.contains(warning))
    }

    @Test func anotherRecordingInThePlaceOfAFileIsAnotherFile() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("voice.wav")
        let (first, second) = (try readFile(Clip.digits.path), try readFile(Clip.goForward.path))
        try folder.write(first, to: "voice.wav")
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBodyToEnd,
                    .perform { _ in
                        // It shows in what is sent next.
                        _ = try? folder.write(second, to: "voice.wav")
                    },
                    .respond(status: 503, text: "busy"),
                ]
            ], otherwise: .answer(text: "heard"))
        let bench = try Bench(server: server)
        #expect(try await send(bench, path).status == .exited(75))
        #expect(try await send(bench, path).status == .exited(0))
        let bodies = server.requests.map(\.body)
        #expect(bodies == [first, second].map { Array($0.dropFirst(44)) })
        #expect(try bench.takes().count == 2)
    }

    @Test func anEncryptedTakeDoesNotTellWhichFileItIs() async throws {
        let bench = try Bench()
        let text = "utter-key-" + String(repeating: "0123456789abcdef", count: 4)
        let key = try bench.folder.write(Array("\(text)\n".utf8), to: "key")
        for _ in 0..<2 {
            #expect(
                try await send(bench, Clip.digits.path, "--encrypt-key", key).status == .exited(75))
        }
        let take = try #require(try bench.onlyTake())
        #expect(!(try take.manifestText.contains("\"file\"")))
    }

    @Test func aVoiceIsNeverTakenForAnother() async throws {
        let bench = try Bench(microphone: try VirtualMicrophone())
        for _ in 0..<2 { _ = try await bench.run("--for", "300ms", "-c", "retry.never=true") }
        #expect(try bench.takes().count == 2)
    }
}
