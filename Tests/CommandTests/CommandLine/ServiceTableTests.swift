// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Settings
@testable import UtterCommands
@testable import UtterSettings

/// What the person's file says of a service, as commands show it and take it in.
@Suite struct ServiceTableTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    @Test func aServiceIsShownAsATakeUsesIt() async throws {
        try bench.configure(
            """
            [services.whisper-cpp]
            url = "http://gpu:8099"
            language = "de"
            [services.mine]
            profile = "openai"
            url = "http://lan:8000/v1"
            token-variable = "MINE_TOKEN"
            [services.free]
            profile = "openai"
            url = "http://lan:8000/v1"
            auth.optional = true
            """)
        // An origin alone keeps the path of the profile.
        let shown = try await bench.run("services", "show", "whisper-cpp").outputText
        #expect(
            shown.contains(
                "url = \"http://gpu:8099/inference\"  # \(bench.configurationPath):2\n"), "\(shown)"
        )
        #expect(shown.contains("# word language, usually de\n"), "\(shown)")
        let mine = try await bench.run("services", "show", "mine").outputText
        #expect(mine.hasPrefix("# mine: OpenAI\n"), "\(mine)")
        let token = "# token: MINE_TOKEN is not set, from the variable MINE_TOKEN\n"
        #expect(mine.contains(token), "\(mine)")
        let free = try await bench.run("services", "show", "free").outputText
        #expect(free.contains("# token: no token needed\n"), "\(free)")
        let object = try JSONText(try await bench.run("services", "show", "mine", "--json").output)
        #expect(object["name"] == .string("mine"))
        #expect(object["url"] == .string("http://lan:8000/v1"))
        #expect(object["token"]?["variable"] == .string("MINE_TOKEN"))
    }

    @Test func theListNamesServicesThatTheFileAloneHas() async throws {
        try bench.configure(
            """
            [services.mine]
            profile = "openai"
            url = "http://lan:8000/v1"
            [services.lost]
            profile = "no-such"
            [services.groq]
            model = "other"
            """)
        let lines = try await bench.run("services").outputText.split(separator: "\n")
        let words = lines.map { $0.split(separator: " ").map(String.init) }
        #expect(words.first { $0[0] == "mine" }?.last == "OpenAI")
        #expect(words.first { $0[0] == "lost" }?[1] == "wrong")
        #expect(words.count { $0[0] == "groq" } == 1)
        let rows = try JSONText(try await bench.run("services", "list", "--json").output)
        let all = try #require(rows.array)
        let mine = all.first { $0["name"] == .string("mine") }
        #expect(mine?["url"] == .string("http://lan:8000/v1"))
        #expect(mine?["token"]?["isNeeded"] == .bool(false))
    }

    @Test(arguments: [
        ("transfer.stall-seconds", "soon", "'transfer.stall-seconds' must be a number"),
        ("transfer.framing", "lenth", "did you mean 'length'?"),
        ("retry.never", "maybe", "'retry.never' must be true or false"),
        ("limits.seconds", "0", "'limits.seconds' must be above 0"),
        ("formats", "wav", "'formats' must be a list of tables"),
        ("headers.X-Api-Key", "sesame", "'X-Api-Key' would hold a secret"),
        ("url", "ht tp:/", "is not a usable URL"),
    ])
    func aWrongValueOfAServiceIsRefusedAndTheFileStays(
        _ field: String, _ value: String, _ reason: String
    ) async throws {
        let text = "[services.mine]\nprofile = \"openai\"\n"
        try bench.configure(text)
        let result = try await bench.run("config", "set", "services.mine.\(field)", value)
        #expect(result.status == .exited(78), "\(result.errorText)")
        let line = "utter: error: services.mine.\(field): "
        #expect(result.errorText.hasPrefix(line), "\(result.errorText)")
        #expect(result.errorText.contains(reason), "\(result.errorText)")
        #expect(!result.errorText.contains("sesame"))
        #expect(String(decoding: try readFile(bench.configurationPath), as: UTF8.self) == text)
    }

    /// What misses another line is written with a warning, and what a line replaces is no mistake.
    @Test func aServiceIsStillDescribedLineByLine() async throws {
        try bench.configure("[services.mine]\nprofile = \"openai\"\n")
        let lines = [
            ("mine.auth.kind", "header", "warning: "), ("mine.auth.header", "X-Key", ""),
            ("mine.auth.file", "key", ""), ("new.transfer.framing", "length", "warning: "),
            ("new.query.region", "{region}", "warning: "),
        ]
        for (name, value, warning) in lines {
            let result = try await bench.run("config", "set", "services.\(name)", value)
            #expect(result.status == .exited(0), "\(name): \(result.errorText)")
            #expect(result.errorText.isEmpty == warning.isEmpty, "\(name): \(result.errorText)")
            #expect(result.errorText.contains(warning) || warning.isEmpty)
        }
    }

    @Test(arguments: ["[recording]\nfoo = 1", "[terminal]\nzzz = 'x'", "[output]\nfoo = true"])
    func anUnknownNameInATableThatARecordingCanDoWithoutIsLeftOut(_ text: String) throws {
        let table = try SettingsDocument.parse("service = 'openai'\n" + text)
        let configuration = try Configuration(table, KnownSettings.catalogue)
        #expect(configuration["service"]?.text == "openai")
        #expect(configuration.problems.count == 1)
        #expect(configuration.problems.first?.reason.hasSuffix("' is not known") == true)
    }

    @Test(arguments: ["[keep]\nfoo = 1", "[limits]\nzzz = 1", "[archive]\nfoo = 1", "zzz = 1"])
    func anUnknownNameElsewhereStopsARecording(_ text: String) throws {
        let table = try SettingsDocument.parse(text)
        #expect(throws: SettingsError.self) { try Configuration(table, KnownSettings.catalogue) }
    }
}
