// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterCommands

/// `--output-dir`: a file for each text.
@Suite struct TranscriptFolderTests {
    private static let timed = """
        {"type":"final","text":"go forward","words":[\
        {"word":"go","start":0.1,"end":0.4},{"word":"forward","start":0.5,"end":1.25}]}

        """

    private func text(_ bench: Bench, _ name: String) throws -> String {
        String(decoding: try bench.folder.read(name), as: UTF8.self)
    }

    @Test func eachTextIsInAFileOfItsName() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "one")], otherwise: .answer(text: Self.timed))
        let bench = try Bench(server: server)
        let out = bench.folder.path("out")
        let result = try await bench.run(
            "send", Clip.digits.path, Clip.goForward.path, "--output-dir", out)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.output.isEmpty)
        let names = [Clip.digits, .goForward].map { TranscriptFolder.name(of: $0.path) }
        #expect(try text(bench, "out/\(names[0]).txt") == "one\n")
        #expect(
            try bench.folder.names(in: "out").sorted()
                == (["\(names[0]).txt"]
                + ["json", "srt", "txt", "vtt"].map { "\(names[1]).\($0)" }).sorted())
        #expect(
            try text(bench, "out/\(names[1]).srt")
                == "1\n00:00:00,100 --> 00:00:01,250\ngo forward\n")
        #expect(
            try text(bench, "out/\(names[1]).vtt")
                == "WEBVTT\n\n00:00:00.100 --> 00:00:01.250\ngo forward\n")
        let json = try bench.folder.read("out/\(names[1]).json")
        #expect(try Schema(name: "outcome").judge(json) == 1)
        #expect(try JSONText(json)["text"] == .string("go forward"))
    }

    @Test func whatIsThereIsNotSentAndNotReplacedUnlessForced() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "new"))
        let bench = try Bench(server: server)
        mkdir(bench.folder.path("out"), 0o700)
        let name = TranscriptFolder.name(of: Clip.digits.path)
        _ = try bench.folder.write(Array("old".utf8), to: "out/\(name).txt")
        let words = [
            "send", Clip.digits.path, Clip.cards.path, "--output-dir", bench.folder.path("out"),
        ]
        let result = try await bench.start(words).result()
        #expect(result.status == .exited(74))
        #expect(result.errorText.contains("out/\(name).txt' exists already"))
        #expect(result.errorText.contains("hint: replace it with --force"))
        #expect(try text(bench, "out/\(name).txt") == "old")
        // The other one is sent all the same.
        #expect(server.requests.count == 1)
        let forced = try await bench.start(words + ["--force"]).result()
        #expect(forced.status == .exited(0))
        #expect(try text(bench, "out/\(name).txt") == "new\n")
    }

    @Test func twoFilesOfOneNameAreRefusedBeforeAnythingIsSent() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "no"))
        let bench = try Bench(server: server)
        for folder in ["a", "b"] {
            mkdir(bench.folder.path(folder), 0o700)
            _ = try bench.folder.write(try readFile(Clip.digits.path), to: "\(folder)/same.wav")
        }
        let result = try await bench.run(
            "send", bench.folder.path("a/same.wav"), bench.folder.path("b/same.wav"),
            "--output-dir", bench.folder.path("out"))
        #expect(result.status == .exited(64))
        #expect(result.errorText.contains("would both become 'same.txt'"))
        #expect(server.requests.isEmpty)
    }

    @Test func aTextThatTheFolderDoesNotTakeIsPrinted() async throws {
        let bench = try Bench()
        let out = bench.folder.path("out")
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd, .perform { _ in rmdir(out) },
                .respond(status: 200, text: "saved words"),
            ])
        let result = try await bench.run(
            "send", Clip.digits.path, "--to", server.url(), "--output-dir", out)
        #expect(result.status == .exited(74))
        #expect(result.outputText == "saved words\n")
        #expect(result.errorText.contains("--output-dir: "))
    }

    /// One status for one thing, whichever option names it, and before anything is sent.
    @Test(arguments: ["--output-dir", "-o"])
    func aPlaceThatIsNotThereIsStatus78(_ option: String) async throws {
        let server = try RecordingServer(otherwise: .answer(text: "no"))
        let bench = try Bench(server: server)
        let place = bench.folder.path("nowhere/x")
        let result = try await bench.run("send", option, place, Clip.digits.path)
        #expect(result.status == .exited(78))
        #expect(result.errorText.contains("'\(place)' cannot be "))
        #expect(server.connectionCount == 0)
    }

    @Test func aFileIsNoFolder() async throws {
        let result = try await Bench().run(
            "send", "--output-dir", Clip.cards.path, Clip.digits.path)
        #expect(result.status == .exited(78))
        #expect(result.errorText.contains("Not a directory"), "\(result.errorText)")
    }

    @Test func aNameIsHarmless() {
        #expect(TranscriptFolder.name(of: "a/b/note.old.wav") == "note.old")
        #expect(TranscriptFolder.name(of: "x/\u{1B}]0;t\u{7}\n\u{202E}.wav") == "_]0;t___")
        #expect(TranscriptFolder.name(of: "-") == "standard-input")
        #expect(TranscriptFolder.name(of: ".wav") == ".wav")
        #expect(TranscriptFolder.name(of: "a/..") == ".")
    }

    @Test func forceNeedsAFolder() async throws {
        let result = try await Bench().run("send", Clip.digits.path, "--force")
        #expect(result.status == .exited(64))
        #expect(result.errorText.contains("--force needs --output-dir"))
    }
}
