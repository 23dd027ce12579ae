// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import TestSupport
import Testing

@testable import SpeechService
@testable import UtterCommands
@testable import UtterSettings

/// `utter setup` with a person at the terminal, from a home without any file.
@Suite struct SetupTests {
    private let card: VirtualMicrophone
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        card = try VirtualMicrophone()
        server = try RecordingServer(otherwise: .answer(text: #"{"text":"it works"}"#))
        bench = try Bench(microphone: card, ["UTTER_URL": ""])
    }

    /// What is asked, in order, and what is typed there.
    private func dialogue(_ token: String = "sk-typed-unseen\n") -> [(
        question: String, answer: String
    )] {
        [
            ("if that is your own: ", "openai \(server.url("/v1/audio/transcriptions"))\n"),
            ("Enter for none: ", token),
            ("Enter for the first: ", "\n"),
            ("what the service decides: ", "en\n"),
        ]
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    private var tokenPath: String { bench.folder.path(".config/utter/openai-token") }

    @Test func aFreshHomeSpeaksAfterFourTypedLines() async throws {
        let result = try await bench.setUp(dialogue())
        #expect(result.status == .exited(0), "\(result.screenText)")
        #expect(result.screenText.contains("✓ the microphone 'default' is heard: "))
        #expect(result.screenText.contains(" answers: it works\r\n"))
        #expect(result.screenText.hasSuffix("Now speak: utter\r\n"))
        #expect(!result.screenText.contains("sk-typed"))
        #expect(result.screenText.contains("A token of 15 characters.\r\n"))
        #expect(mode(bench.configurationPath) == 0o600 && mode(tokenPath) == 0o600)
        #expect(mode(bench.folder.path(".config/utter")) == 0o700)
        #expect(try readFile(tokenPath) == Array("sk-typed-unseen\n".utf8))
        #expect(
            String(decoding: try readFile(bench.configurationPath), as: UTF8.self) == """
                # Written by utter setup. 'man utter' explains it; utter config edit changes it.
                service = "openai"
                language = "en"

                [services.openai]
                url = "\(server.url("/v1/audio/transcriptions"))"
                token-file = "openai-token"

                """)
        #expect(try bench.folder.names(in: ".config/utter") == ["config.toml", "openai-token"])
        // The fourth line.
        let spoken = try await bench.run("--for", "300ms")
        #expect(spoken.status == .exited(0) && spoken.outputText == "it works\n")
        #expect(server.requests.count == 2)
        for request in server.requests {
            #expect(request["Authorization"] == "Bearer sk-typed-unseen")
            #expect(request["Content-Type"]?.hasPrefix("multipart/form-data") == true)
            #expect(request.body.contains(#"name="language"\#r\#n\#r\#nen"#.utf8))
        }
    }

    /// At the unseen one, at the last, and while the answers are tried.
    @Test(arguments: [1, 3, 4])
    func ctrlCAtAnyQuestionLeavesNothingBehind(_ step: Int) async throws {
        let terminal = try PseudoTerminal(columns: 200)
        let busy = try RecordingServer(otherwise: [.readHead, .readOn])
        let run = try bench.start(["setup"], input: .terminal, terminal: terminal)
        var answers = dialogue()
        answers[0].answer = "openai \(busy.url("/v1/audio/transcriptions"))\n"
        answers.append(("Say something …", ""))
        answers[step].answer = "\u{3}"
        try await bench.answer(Array(answers.prefix(step + 1)), to: run, on: terminal)
        let result = try await run.result()
        #expect(result.status == .signalled(SIGINT))
        #expect(mode(bench.folder.path(".config")) == nil)
        #expect(terminal.isEchoing)
    }

    @Test func whatIsThereIsReplacedOnlyWhenThatIsSaid() async throws {
        let old = "# mine\noutput.detail = 'quiet'\n"
        for (answer, isReplaced) in [("\n", false), ("y\n", true)] {
            try bench.configure(old)
            var answers = dialogue("\n") + [("behind its name [y/N]: ", answer)]
            // A server's name is enough.
            answers[0].answer = "openai \(server.url("/"))\n"
            #expect(try await bench.setUp(answers).status == .exited(0))
            #expect(server.requests.last?.target == "/v1/audio/transcriptions")
            #expect(server.requests.last?["Authorization"] == nil)
            let text = String(decoding: try readFile(bench.configurationPath), as: UTF8.self)
            #expect((text == old) != isReplaced)
        }
        #expect(
            try bench.folder.read(".config/utter/config.toml.old") == Array(old.utf8))
    }

    @Test func whatDoesNotWorkIsSaidAndWrittenOnlyWhenThatIsSaid() async throws {
        let refusing = try RecordingServer(otherwise: [
            .readHead, .respond(status: 401, text: "no such token"),
        ])
        card.setBusy()
        for (answer, isWritten) in [("\n", false), ("y\n", true)] {
            var answers = dialogue("sk-wrong\n") + [("all the same? [y/N]: ", answer)]
            answers[0].answer = "openai \(refusing.url("/v1/audio/transcriptions"))\n"
            let result = try await bench.setUp(answers)
            for words in ["✗ ", "another program holds it", "no such token"] {
                #expect(result.screenText.contains(words))
            }
            #expect(result.status == .exited(0))
            #expect((mode(bench.configurationPath) == 0o600) == isWritten)
        }
    }

    // MARK: - Recognisers of the desktop

    /// Files of such a name, and other sockets, are none.
    @Test func socketsWithTheNameOfARecogniserAreOffered() throws {
        let folder = try TemporaryFolder()
        for name in ["ear", "sound"] { #expect(mkdir(folder.path(name), 0o700) == 0) }
        let paths = ["ear/recogniser", "sound/native", "whisper.sock"].map(folder.path)
        let sockets = try paths.map { Boxed(try LocalSocket.listen(at: $0)) }
        try folder.write([], to: "ear/stt")
        #expect(SetupDialogue.recognisers(below: folder.path) == [paths[0], paths[2]])
        #expect(SetupDialogue.recognisers(below: "") == [])
        withExtendedLifetime(sockets) {}
    }

    private final class Boxed: Sendable {
        let socket: OwnedDescriptor
        init(_ socket: consuming OwnedDescriptor) { self.socket = socket }
    }

    @Test(
        arguments: [
            ("unix:/run/ear", "desktop", "unix:/run/ear"), ("unix:", "desktop", nil),
            ("desktop", "desktop", nil), ("openai unix:/run/ear", "openai", "unix:/run/ear"),
            ("tcp://hall:10300", "wyoming", "tcp://hall:10300"), ("unix:ear", nil, nil),
        ] as [(String, String?, String?)])
    func anAddressOfASocketIsUnderstood(_ line: String, _ name: String?, _ url: String?) {
        let choice = SetupDialogue().choice(line)
        #expect(choice?.0.name == name)
        #expect(choice?.url == url)
    }

    @Test func aTokenMayStandElsewhere() async throws {
        let file = try bench.folder.write(Array("sk-file\n".utf8), to: "token")
        for (typed, line, sent) in [
            (file, "token-file = \"\(file)\"", "sk-file"),
            ("!echo sk-command", "token-command = \"echo sk-command\"", "sk-command"),
            ("$MY_TOKEN", "token-variable = \"MY_TOKEN\"", "sk-variable"),
        ] {
            var answers = dialogue(typed + "\n")
            // Its path tells which service it is like.
            answers[0].answer = "\(server.url("/v1/audio/transcriptions"))\n"
            if typed != file { answers.append(("behind its name [y/N]: ", "y\n")) }
            let result = try await bench.setUp(answers, variables: ["MY_TOKEN": "sk-variable"])
            #expect(result.status == .exited(0))
            let text = String(decoding: try readFile(bench.configurationPath), as: UTF8.self)
            #expect(text.contains("\n\(line)\n"), "\(text)")
            #expect(text.contains("\nservice = \"openai\"\n"))
            #expect(server.requests.last?["Authorization"] == "Bearer \(sent)")
        }
    }

    @Test func aWrongAnswerIsAskedForAgain() async throws {
        let result = try await bench.setUp([
            ("if that is your own: ", "opneai\n"),
            ("did you mean 'openai'?\r\n", "http://127.0.0.1:1/elsewhere\n"),
            ("write NAME URL.\r\n", dialogue()[0].answer), ("Enter for none: ", "$NOT_SET\n"),
            ("The variable NOT_SET is not set.\r\n", "/no/such/file\n"),
            // The end of what is typed is a no.
            ("There is no such file.\r\n", "\u{4}"),
        ])
        #expect(result.status == .exited(130))
        #expect(mode(bench.folder.path(".config")) == nil)
    }

    @Test func theServicesAreInGroupsThatFitEveryWidth() throws {
        let profiles = try Services.names.map { try Services.profile($0) }
        for width in 24...200 {
            let lines = SetupDialogue.list(profiles, width: width)
            let groups = lines.split { !$0.hasPrefix("  ") }
            #expect(lines.count { !$0.hasPrefix("  ") } == 3 && groups.count == 3)
            // A name is whole on its line.
            let names = groups.map { group in
                group.joined().split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init)
            }
            #expect(names.flatMap { $0 }.sorted() == profiles.map(\.name).sorted())
            #expect(names[0].contains("whisper-cpp") && names[1].contains("openai"))
            #expect(names[1].contains("deepgram") && names[2].contains("azure-fast"))
            if width >= 40 { #expect(lines.allSatisfy { $0.count <= width } && lines.count < 22) }
        }
    }

    @Test func theServicesFitOnAScreenAndAPartOfANameSaysMore() async throws {
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let run = try bench.start(["setup"], input: .terminal, terminal: terminal)
        let first = "if that is your own: "
        try await bench.answer([(first, "whisper\n")], to: run, on: terminal)
        #expect(await run.wait(for: "  whisper-cpp ", in: .screen))
        // What is typed next appears behind the question that follows the list.
        #expect(
            await run.wait(in: .screen) {
                String(decoding: $0, as: UTF8.self).ranges(of: first).count == 2
            })
        try terminal.type("nothing\n")
        #expect(await run.wait(for: "There is no such service", in: .screen))
        // One that has the part alone is meant.
        try terminal.type("yand\n")
        #expect(await run.wait(for: "Yandex ", in: .screen))
        try terminal.type("\u{4}")
        let result = try await run.result()
        #expect(result.status == .exited(130))
        let lines = result.screenText.split(separator: "\r\n", omittingEmptySubsequences: false)
        let list = try #require(lines.firstIndex { $0.hasSuffix(first + "whisper") })
        #expect(list < 23 && lines.allSatisfy { $0.count <= 80 })
        let found = lines[(list + 1)...].prefix { !$0.contains(first) }
        #expect(found.count > 1 && found.allSatisfy { $0.lowercased().contains("whisper") })
    }

    @Test func withoutATerminalItPrintsWhatToWrite() async throws {
        let result = try await bench.run("setup")
        #expect(result.status == .exited(0) && result.error.isEmpty)
        #expect(result.outputText.contains(bench.configurationPath))
        #expect(mode(bench.folder.path(".config")) == nil)
        try bench.configure(result.outputText)
        #expect(try await bench.run("config", "check").status == .exited(0))
    }
}

extension Bench {
    /// Types each answer once its question is there.
    func answer(
        _ answers: [(question: String, answer: String)], to run: CommandRun,
        on terminal: PseudoTerminal
    ) async throws {
        for (question, answer) in answers {
            #expect(await run.wait(for: question, in: .screen), "\(question)")
            try terminal.type(answer)
        }
    }

    /// Runs `setup`, and answers all its questions.
    func setUp(
        _ answers: [(question: String, answer: String)], variables: [String: String] = [:]
    ) async throws -> CommandResult {
        let terminal = try PseudoTerminal(columns: 200)
        let run = try start(["setup"], input: .terminal, terminal: terminal, variables: variables)
        try await answer(answers, to: run, on: terminal)
        return try await run.result()
    }
}
