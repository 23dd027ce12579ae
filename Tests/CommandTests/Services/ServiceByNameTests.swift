// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A service that is called by its name is asked as its profile says.
@Suite struct ServiceByNameTests {
    private static let answer: [ServerStep] = .json(
        #"{"deep":{"words":"heard"},"text":"else"}"#)

    /// A service of one's own.
    private func profile(_ server: RecordingServer) -> String {
        """
        url = "\(server.url("/v1/{model}/listen"))"
        answer.text = ["deep.words"]
        query.lang = "{language}"
        [words]
        model = "small"
        language = { values = { en = "en-US" } }
        """
    }

    /// Not in the folder in which it is called, which may be another person's.
    @Test(arguments: [
        "service = './mine.toml'", "service = 'mine.toml'",
        "service = 'a'\n[services.a]\nprofile = 'mine.toml'",
    ])
    func aPathInTheSettingsBeginsBesideThem(_ settings: String) async throws {
        let (meant, other) = (
            try RecordingServer(otherwise: Self.answer), try RecordingServer(otherwise: Self.answer)
        )
        let bench = try Bench(["UTTER_URL": ""])
        try bench.configure(settings)
        try bench.folder.write(Array(profile(meant).utf8), to: ".config/utter/mine.toml")
        try bench.folder.write(Array(profile(other).utf8), to: "mine.toml")
        let result = try await bench.startShell(
            #"cd "$HOME" && exec "$0" "$@""#, ["send", Clip.goForward.path]
        ).result()
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(meant.requests.count == 1 && other.connectionCount == 0)
    }

    @Test func aTakeRemembersItsProfileByValue() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 503, text: "")], otherwise: Self.answer)
        let bench = try Bench.withProfiles([
            "base": profile(server), "mine": "extends = \"base\"\n[query]\nx = \"1\"",
        ])
        let first = try await bench.run(
            "send", "-c", "retry.never=true", "--service", "mine", "--language", "en", "--set",
            "model=big one", "-H", "X-A: b", Clip.goForward.path)
        #expect(first.status == .exited(75), "\(first.errorText)")
        // One is gone, the other is something else.
        unlink(bench.profilePath("base"))
        try bench.writeProfile("url = \"http://127.0.0.1:9/\"", to: "mine")
        let again = try await bench.start(
            ["retry", "last"], variables: ["UTTER_SERVICE": "mine"]
        ).result()
        #expect(again.outputText == "heard\n", "\(again.errorText)")
        let (one, two) = (server.requests[0], server.requests[1])
        #expect(one.target == "/v1/big%20one/listen?lang=en-US&x=1")
        #expect(two.target == one.target)
        #expect(two["X-A"] == "b")
        #expect(two.body == one.body)
    }
}
