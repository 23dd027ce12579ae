// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterCommands

/// A kept take goes exactly where it was meant to go, in the shape it was meant to have.
@Suite struct KeptDeliveryTests {
    private static let secret = "sesame-4711"
    private static let answer = "{\"deep\":{\"words\":\"meant\"}}"

    /// A service that fails once, and then says what it heard.
    private func meant(status: Int = 503) throws -> RecordingServer {
        try RecordingServer(
            scripts: [.answer(status: status, text: "")], otherwise: .json(Self.answer))
    }

    /// The environment of another shell, in which another service is usual.
    private func elsewhere(_ foreign: RecordingServer) -> [String: String] {
        ["UTTER_URL": foreign.url("/usual"), "UTTER_TOKEN": "a token of the usual service"]
    }

    private func secretFile(_ bench: Bench, _ text: String = secret) throws -> String {
        let path = try bench.folder.write(Array("\(text)\n".utf8), to: "secret")
        chmod(path, 0o600)
        return path
    }

    /// The port is that of `utter serve`, which may run beside the tests.
    @Test(.enabled(if: !ServiceOptions.listensLocally), arguments: ["retry", "flush"])
    func aTakeFromBeforeAServiceWasChosenGoesThereWhenAPersonAsks(_ command: String) async throws {
        let server = try RecordingServer(otherwise: .json(Self.answer))
        let bench = try Bench(["UTTER_URL": ""])
        let first = try await bench.run("send", Clip.goForward.path)
        #expect(first.status == .exited(75))
        #expect(first.errorText.contains("no service is set, and none listens at"))
        try bench.writeProfile(
            """
            title = "Mine"
            url = "\(server.url("/mine"))"
            answer.text = "deep.words"
            """, to: "mine")
        try bench.configure("service = 'mine'\n")
        // A timer chooses nothing for the person.
        _ = try await bench.run("flush", "--quiet")
        #expect(server.connectionCount == 0)
        let again = try await bench.run(command)
        #expect(again.status == .exited(0), "\(again.errorText)")
        #expect(again.outputText == "meant\n")
        #expect(server.requests.map(\.target) == ["/mine"])
    }

    @Test func aTakeForTheUsualAddressStaysThereWhenItWasNamed() async throws {
        let server = try RecordingServer()
        let bench = try Bench(["UTTER_URL": ""])
        let to = ["send", "-c", "retry.never=true", "--to", "http://127.0.0.1:9/"]
        _ = try await bench.start(to + [Clip.goForward.path]).result()
        let again = try await bench.start(
            ["retry", "-c", "retry.never=true"], variables: ["UTTER_URL": server.url()]
        ).result()
        #expect(again.status == .exited(75))
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: [["retry", "last"], ["flush"]])
    func everythingOfTheRequestIsRemembered(_ command: [String]) async throws {
        let (server, foreign) = (try meant(), try RecordingServer())
        let bench = try Bench()
        let first = try await bench.run(
            "send", "-c", "retry.never=true", "--to",
            server.url("/v1/listen?model=nova&language=en"), "-H", "X-Model: nova",
            "-H", "X-Twice: 1", "-H", "X-Twice: 2", "-c", "body.content-type=audio/l16",
            "-c", "method=PUT", "-c", "transfer.id-header=X-Id", "-c", "answer.text=deep.words",
            "--token-file", try secretFile(bench), "-c", "auth.kind=header",
            "-c", "auth.header=xi-api-key", "--format", "wav", Clip.goForward.path)
        #expect(first.status == .exited(75))
        let again = try await bench.start(command, variables: elsewhere(foreign)).result()
        #expect(again.status == .exited(0), "\(again.errorText)")
        #expect(again.outputText == "meant\n")
        #expect(foreign.connectionCount == 0)
        let (one, two) = (server.requests[0], server.requests[1])
        #expect(two.requestLine == "PUT /v1/listen?model=nova&language=en HTTP/1.1")
        #expect(two.body == one.body)
        // Its length is known now; everything else is as it was.
        let unequal: Set = [
            "utter-attempt", "content-digest", "content-length", "transfer-encoding",
            "incremental",
        ]
        let fields = { (request: RecordedRequest) in
            request.headers.map { "\($0.name): \($0.value)" }.filter { line in
                !unequal.contains { line.lowercased().hasPrefix($0) }
            }.sorted()
        }
        #expect(fields(two) == fields(one))
        #expect(two["xi-api-key"] == Self.secret)
    }

    @Test func aTokenOfTheEnvironmentBelongsToItsURL() async throws {
        let (server, foreign) = (try meant(), try RecordingServer())
        let bench = try Bench(server: server, ["UTTER_TOKEN": Self.secret])
        _ = try await bench.run("send", "-c", "retry.never=true", Clip.goForward.path)
        #expect(server.requests.first?["Authorization"] == "Bearer \(Self.secret)")
        // In another shell the variables are of another service.
        let take = try #require(try bench.onlyTake())
        let retry = ["retry", take.id]
        let again = try await bench.start(retry, variables: elsewhere(foreign)).result()
        #expect(again.status == .exited(78))
        #expect(
            again.errorText.contains(
                "take \(take.id) is not sent without its header 'Authorization': UTTER_TOKEN "
                    + "belongs to \(foreign.url("")), where UTTER_URL leads\n"),
            "\(again.errorText)")
        #expect(
            again.errorText.contains("utter retry \(take.id.asInHints) --token-file FILE\n"))
        let flush = try await bench.start(["flush"], variables: elsewhere(foreign)).result()
        #expect(flush.status == .exited(75))
        #expect(server.requests.count == 1)
        #expect(foreign.connectionCount == 0)
        // Where they are its own again, it is sent.
        let last = try await bench.run("retry", take.id, "-c", "answer.text=deep.words")
        #expect(last.outputText == "meant\n")
        #expect(server.requests.last?["Authorization"] == "Bearer \(Self.secret)")
    }

    @Test func whatWasTypedIsNamedWhenItIsMissing() async throws {
        let server = try meant()
        let bench = try Bench()
        _ = try await bench.run(
            "send", "-c", "retry.never=true", "--to", server.url("/x?api_key=\(Self.secret)&m=1"),
            "-H",
            "Ocp-Apim-Subscription-Key: \(Self.secret)", Clip.goForward.path)
        #expect(server.requests.first?.target == "/x?api_key=\(Self.secret)&m=1")
        let take = try #require(try bench.onlyTake())
        let manifest = try take.manifestText
        #expect(!manifest.contains(Self.secret))
        let missing = try await bench.run("retry", take.id)
        #expect(missing.status == .exited(78))
        #expect(missing.errorText.contains("was typed or piped, and is not kept"))
        #expect(missing.errorText.contains("header 'Ocp-Apim-Subscription-Key'"))
        let half = try await bench.run(
            "retry", take.id, "-H", "Ocp-Apim-Subscription-Key: \(Self.secret)")
        #expect(half.errorText.contains("query parameter 'api_key'"))
        let whole = try await bench.run(
            "retry", take.id, "-H", "Ocp-Apim-Subscription-Key: other", "--to",
            server.url("/x?api_key={token}&m=1"), "--token-file", try secretFile(bench),
            "-c", "answer.text=deep.words")
        #expect(whole.outputText == "meant\n", "\(whole.errorText)")
        #expect(server.requests.last?.target == "/x?api_key=\(Self.secret)&m=1")
        #expect(server.requests.last?["Ocp-Apim-Subscription-Key"] == "other")
    }

    @Test func aTokenForSeveralServicesIsRefused() async throws {
        let (one, two) = (try meant(), try meant())
        let bench = try Bench()
        for server in [one, two] {
            _ = try await bench.run(
                "send", "-c", "retry.never=true", "--to", server.url(), Clip.goForward.path)
        }
        let file = try secretFile(bench)
        for command in [["flush"], ["retry", "all"]] {
            let result = try await bench.start(command + ["--token-file", file]).result()
            #expect(result.status == .exited(64))
            #expect(result.errorText.contains("the takes go to 2 services"))
        }
        #expect(one.requests.count == 1)
        #expect(two.requests.count == 1)
    }

    /// How a secret in FILE may be given, and what the service then sees of it, and where: in a
    /// field, or in the target.
    private static let sources: [([String], String, String, String)] =
        [
            (["--token-file", "FILE"], "", "Authorization", "Bearer sesame-4711"),
            (
                ["--token-file", "FILE", "-c", "auth.kind=basic"], "", "Authorization",
                "Basic c2VzYW1lLTQ3MTE="
            ),
            (["-H", "@FILE"], "", "X-Deep-Thing", "sesame-4711"),
            (["--token-file", "FILE"], "?key={token}&x=1", "", "/p?key=sesame-4711&x=1"),
        ]

    @Test(arguments: sources)
    func aSecretIsFetchedAgainAndNeverStored(
        _ options: [String], _ query: String, _ field: String, _ value: String
    ) async throws {
        let (server, foreign) = (try meant(), try RecordingServer())
        let bench = try Bench()
        let text = field == "X-Deep-Thing" ? "X-Deep-Thing: \(Self.secret)" : Self.secret
        let file = try secretFile(bench, text)
        let words = options.map { $0.replacing("FILE", with: file) }
        let first = try await bench.start(
            ["send", "-c", "retry.never=true", "-c", "answer.text=deep.words", "--to"]
                + [server.url("/p" + query)] + words + [Clip.goForward.path]
        ).result()
        #expect(first.status == .exited(75), "\(first.errorText)")
        let take = try #require(try bench.onlyTake())
        let manifest = try take.manifestText
        #expect(!manifest.contains(Self.secret))
        #expect(!manifest.contains("c2VzYW1lLTQ3MTE="))
        #expect(manifest.contains("\"origin\" : \"\(server.url(""))\""))
        let retry = ["retry", take.id]
        let again = try await bench.start(retry, variables: elsewhere(foreign)).result()
        #expect(again.outputText == "meant\n", "\(again.errorText)")
        #expect(foreign.connectionCount == 0)
        for request in server.requests {
            #expect((field.isEmpty ? request.target : request[field]) == value)
        }
    }
}
