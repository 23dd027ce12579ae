// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite struct TextCommandTests {
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        server = try .hearing("go forward")
        bench = try Bench(server: server)
    }

    @Test func theCommandReadsTheTextAndPrints() async throws {
        let result = try await bench.run("send", Clip.digits.path, "--run", "tr a-z A-Z")
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText == "GO FORWARD\n")
    }

    @Test func besideJsonItPrintsOnStandardError() async throws {
        let result = try await bench.run(
            "send", "-q", Clip.digits.path, "--json", "--run", "tr a-z A-Z")
        #expect(result.status == .exited(0))
        #expect(try ParsedJSON(result.output)["text"] == .string("go forward"))
        #expect(result.errorText == "GO FORWARD\n")
    }

    @Test func aCommandThatFailsCostsNoText() async throws {
        let result = try await bench.run("send", "-q", Clip.digits.path, "--run", "exit 5")
        #expect(result.status == .exited(74))
        #expect(result.outputText == "go forward\n")
        #expect(
            result.errorText == """
                utter: error: --run: the command ended with status 5
                utter: hint: try it by itself: utter last | sh -c 'exit 5'

                """)
        let json = try await bench.run("send", "--json", Clip.digits.path, "--run", "kill -9 $$")
        #expect(json.status == .exited(74))
        #expect(try ParsedJSON(json.output)["exit"] == .number(74))
        #expect(try ParsedJSON(json.output)["text"] == .string("go forward"))
        #expect(json.errorText.contains("--run: the command was ended by signal 9"))
    }

    @Test func noSecretIsInItsEnvironment() async throws {
        try bench.configure(
            """
            [services.mine]
            profile = "openai"
            url = "\(server.url())"
            token-variable = "MY_OWN_TOKEN"
            """)
        let result = try await bench.start(
            ["send", Clip.digits.path, "--service", "mine", "--run", "env"],
            variables: [
                "UTTER_TOKEN": "s3cret-1", "MY_OWN_TOKEN": "s3cret-2", "OPENAI_API_KEY": "s3cret-3",
                "UTTER_URL": "http://127.0.0.1:9/?key=s3cret-4", "UTTER_PROXY_LOGIN": "a:s3cret-5",
                "MINE": "not secret",
            ]
        ).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText.contains("MINE=not secret"))
        #expect(!result.outputText.contains("s3cret"))
    }

    @Test func aCommandThatDoesNotEndIsKilledWithTheProgram() async throws {
        let mark = bench.folder.path("mark")
        let run = try bench.start(
            ["send", Clip.digits.path, "--run", "echo begun >&2; sleep 1000; touch '\(mark)'"])
        #expect(await run.wait(for: "begun", in: .error))
        run.signal(SIGTERM)
        let result = try await run.result()
        #expect(result.status == .exited(74))
        #expect(result.outputText == "go forward\n")
        #expect(result.errorText.contains("--run: the command was killed before its end"))
        #expect(access(mark, F_OK) != 0)
    }

    @Test func whereNothingIsHeardNothingIsRun() async throws {
        let result = try await Bench(server: .hearing(#"{"text": ""}"#)).run(
            "send", "-q", Clip.digits.path, "--run", "echo ran")
        #expect(result.status == .exited(1))
        #expect(result.output.isEmpty)
    }

    @Test func theSettingsCountForAVoiceAlone() async throws {
        let bench = try Bench(server: server, microphone: try VirtualMicrophone())
        try bench.configure("[output]\nrun = \"sed 's/^/voice: /'\"\nto = \"stdout\"\n")
        let voice = try await bench.run("--for", "300ms")
        #expect(
            voice.outputText.split(separator: "\n").sorted() == ["go forward", "voice: go forward"])
        #expect(try await bench.run("--for", "300ms", "-o", "-").outputText == "go forward\n")
        #expect(try await bench.run("send", Clip.digits.path).outputText == "go forward\n")
    }

    @Test func aWrongSettingIsSaid() async throws {
        try bench.configure("[output]\nto = \"printer\"\n")
        let result = try await bench.here("--for", "300ms")
        #expect(result.status == .exited(78))
        #expect(result.errorText.contains("'output.to' is 'printer', but must be stdout, copy"))
    }
}
