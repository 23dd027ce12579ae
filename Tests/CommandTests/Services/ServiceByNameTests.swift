// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A service that is called by its name is asked as its profile says.
@Suite struct ServiceByNameTests {
    private static let answer: [ServerStep] = .json(
        #"{"deep":{"words":"heard"},"text":"else"}"#)

    /// A service of one's own.
    private func profile(_ server: RecordingServer) -> [UInt8] {
        Array("url = '\(server.url())'\nanswer.text = ['deep.words']".utf8)
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
        try bench.folder.write(profile(meant), to: ".config/utter/mine.toml")
        try bench.folder.write(profile(other), to: "mine.toml")
        let result = try await bench.startShell(
            #"cd "$HOME" && exec "$0" "$@""#, ["send", Clip.goForward.path]
        ).result()
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(meant.requests.count == 1 && other.connectionCount == 0)
    }
}
