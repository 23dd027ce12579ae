// SPDX-License-Identifier: Apache-2.0

import LinuxPlatform
import Testing

@testable import Settings
@testable import SpeechService
@testable import UtterSettings

/// The fields of a profile that the file of settings says for one service.
@Suite struct ServiceFieldsTests {
    private func settings(_ text: String) throws -> ServiceSettings {
        let catalogue = SettingsCatalogue([], dispensable: [], synonyms: [:])
        let configuration = try Configuration("[services.mine]\n\(text)\n", catalogue)
        return try #require(configuration.services["mine"])
    }

    private func profile(_ text: String) throws -> ServiceProfile {
        try settings(text).laid(over: Profiles.shipped.profile("openai"))
    }

    @Test func allFieldsCountOverTheProfile() throws {
        let profile = try profile(
            """
            method = "PUT"
            query.version = "2"
            headers = { X-Model = "small" }
            transfer = { framing = "length", stall-seconds = "1m30s", insecure-token = true }
            retry.statuses = [418, 503]
            [services.mine.connection]
            http = "2"
            ca-file = "ca.pem"
            [services.mine.body.fields]
            a = "b"
            "granularities[]" = ["word", "segment"]
            """)
        #expect(profile.method == .put)
        #expect(profile.query.map(\.name) == ["version"])
        #expect(profile.headers.map(\.name) == ["X-Model"])
        #expect(profile.transfer.framing == .length && profile.transfer.stall == .seconds(90))
        #expect(profile.connection.http == .two)
        // A path begins beside the file.
        #expect(profile.connection.certificateFile == ConfigurationFile.folder + "/ca.pem")
        let names = profile.body.fields.map(\.name)
        #expect(names.contains("a") && names.contains("granularities[]"))
        #expect(profile.name == "openai")
    }

    /// Whatever `-c` takes is known, and read by the reader of profiles.
    @Test func everyFieldIsKnown() throws {
        for key in ProfileKey.all where !key.path.hasPrefix("words") {
            let path = key.path.replacing("NAME", with: "x")
            let said = try settings("\(path) = \"x\"")
            let isToken = ["auth.file", "auth.command", "auth.variable", "auth.credential"]
                .contains(path)
            #expect(said.says(path) != (isToken || path == "url"), "\(path)")
            #expect((said.token != nil) == isToken)
        }
    }

    @Test func aSourceOfTheTokenBelongsToTheService() throws {
        #expect(try settings("auth.variable = 'MINE'").token == .variable("MINE"))
        #expect(
            try settings("auth.file = 'key'").token == .file(ConfigurationFile.folder + "/key"))
        #expect(try settings("transfer.insecure-token = true").allowsTokenInClear == true)
        #expect(try settings("auth.kind = 'header'\nauth.header = 'X-Key'").token == nil)
    }

    @Test(arguments: [
        (
            "transfer.framin = 'length'",
            "2:10: 'services.mine.transfer.framin' is not known; did you mean 'transfer.framing'?"
        ),
        (
            "[services.mine.transfer]\nframin = 'length'",
            "3:1: 'services.mine.transfer.framin' is not known; did you mean 'transfer.framing'?"
        ),
        (
            "auth.token = 'sesame'",
            "2:6: 'services.mine.auth.token' must not hold a secret; say where it is with "
                + "token-file, token-command or token-variable"
        ),
        (
            "token-file = 'a'\nauth.command = 'b'",
            "3:6: 'services.mine.auth.command' and 'token-file' cannot be used together"
        ),
        ("auth.file = ''", "2:6: 'services.mine.auth.file' is empty"),
        ("title = 'x'", "2:1: 'services.mine.title' is not known"),
    ])
    func whatIsNoFieldIsRefused(_ text: String, _ reason: String) {
        let error = #expect(throws: ReadingError.self) { try settings(text) }
        #expect(error?.description == "\(ConfigurationFile.path):\(reason)")
    }

    @Test(arguments: [
        ("url = 'u'\ntransfer.framing = 'chunky'", 3, "'transfer.framing' cannot be 'chunky'"),
        ("transfer.stall-seconds = 'soon'", 2, "'transfer.stall-seconds' must be a number"),
        ("retry.never = 1", 2, "'retry.never' must be true or false, not a whole number"),
        ("headers.X-Api-Key = 'sesame'", 2, "'X-Api-Key' must not hold a secret"),
        ("retry.never = true\nauth.kind = 'header'", 3, "'auth.header' is missing"),
    ])
    func aValueThatIsNoneIsSaidWithItsLine(_ text: String, _ line: Int, _ reason: String) {
        let error = #expect(throws: SettingsError.self) { try profile(text) }
        #expect(error?.place?.line == line)
        #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "")")
        #expect(error?.reason.contains("sesame") == false)
    }
}
