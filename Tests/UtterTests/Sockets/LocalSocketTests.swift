// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import TestSupport
import Testing

@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// Takes to recognisers of the desktop, at Unix sockets.
@Suite(.timeLimit(.minutes(5))) struct LocalSocketTests {
    private let bench: Bench
    private let path: String
    private static let words = [3, 5, 7, 9, 11, 2, 4]

    init() throws {
        bench = try Bench()
        path = bench.folder.path("recogniser")
    }

    private func plan(
        _ asked: String = "", at path: String? = nil, retry: RetryPolicy = .never
    ) throws -> DeliveryPlan {
        let own = """
            url = 'unix:\(path ?? self.path)'
            socket.path = '/desktop\(asked.isEmpty ? "" : "?\(asked)")'
            """
        return try Bench.plan(
            by: [ProfileText(overriding: own, place: "-c")]
                + Profiles.shipped.profile("desktop").texts, retry: retry)
    }

    private func send(by plan: DeliveryPlan) async throws -> TakeOutcome {
        try await bench.replay(SocketService.samples(Self.words), by: plan).end()
    }

    /// At its own path and at a link to it, past any proxy.
    @Test func nothingIsSentBeforeTheRecogniserIsReady() async throws {
        let service = try await SocketService(at: path)
        let outcome = try await send(by: plan())
        #expect(outcome.text == SocketService.text(Self.words))
        let session = try #require(try await service.sessions(1).first)
        #expect(session.dropped == 0)
        #expect(session.audio == Self.words.count * 4_800 * 2)
        #expect(session.path == "/desktop")
        #expect(session.host == "localhost")
        #expect(session.authorization == nil)
        #expect(outcome.attempts.map(\.url) == ["unix:\(path)"])

        let link = bench.folder.path("link")
        #expect(symlink(path, link) == 0)
        let linked = try plan(at: link)
        #expect(linked.service.url.origin.description == "unix:\(path)")
        var proxied = try plan()
        proxied.service.connection.proxy = .url("http://127.0.0.1:9")
        for plan in [linked, proxied] {
            #expect(try await send(by: plan).text == SocketService.text(Self.words))
        }
        withExtendedLifetime(service) {}
    }

    @Test func whatMayChangeAndWhatIsSettledIsShown() async throws {
        let service = try await SocketService(at: path)
        let (speaker, take, log) = try bench.speak(by: plan())
        speaker.say(SocketService.samples([3, 5]))
        #expect(await log.hears { $0.displayText == "w3 w5" })
        speaker.say(SocketService.samples([7]))
        speaker.fallSilent()
        #expect(try await take.end().text == "w3 w5 w7")
        withExtendedLifetime(service) {}
    }

    /// A close before the text is complete is no text, and another session gets the recording.
    @Test func aSessionThatEndsTooSoonIsNoText() async throws {
        let service = try await SocketService(at: path)
        for asked in ["drop=33333", "close-after=33333&code=1000", "close-after=33333&code=1011"] {
            let isLast = asked.hasSuffix("1000")
            let outcome = try await send(by: plan(asked, retry: SocketTakeTests.patient))
            let sessions = try await service.sessions(isLast ? 1 : 2, of: asked)
            if isLast {
                #expect(throws: TakeFailure.self) { try outcome.result.get() }
            } else {
                #expect(outcome.text == SocketService.text(Self.words), "\(asked)")
                #expect(sessions.count == 2, "\(asked)")
            }
        }
    }

    @Test func aSocketThatIsNotThereIsTriedAgain() async throws {
        let outcome = try await send(by: plan(retry: SocketTakeTests.patient))
        #expect(outcome.attempts.count > SocketTakeTests.patient.pausesAfterRelease.count)
        guard case .cannotConnect = outcome.attempts.first?.result.ending else {
            Issue.record("\(String(describing: outcome.attempts.first?.result.ending))")
            return
        }
    }

    /// A program that names no socket must not reach a server of the network instead.
    @Test func withoutAPathNothingIsAsked() async throws {
        let plan = try Bench.plan(by: Profiles.shipped.profile("desktop").texts, retry: .never)
        let outcome = try await send(by: plan)
        #expect(throws: TakeFailure.self) { try outcome.result.get() }
        let ending = outcome.attempts.first?.result.ending
        #expect(ending == .unprepared("the service's address names no socket"))
    }

    /// Needs the right to become another user.
    @Test(.enabled(if: geteuid() == 0)) func anotherUsersSocketGetsNothing() async throws {
        let open = try TemporaryFolder()
        #expect(chmod(open.path, 0o777) == 0)
        // It prints how many bytes a client has sent it until its end.
        let listening = """
            import socket, sys
            server = socket.socket(socket.AF_UNIX)
            server.bind(sys.argv[1])
            server.listen()
            print("listening", flush=True)
            client, _ = server.accept()
            client.settimeout(60)
            print(len(client.recv(65536)), flush=True)
            """
        let stranger = try CommandRun(
            "setpriv",
            [
                "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", listening,
                open.path("theirs"),
            ])
        try #require(await comesTrue { stranger.output.contains(UInt8(ascii: "\n")) })
        let outcome = try await send(by: try plan(at: open.path("theirs")))
        let failure = #expect(throws: TakeFailure.self) { try outcome.result.get() }
        #expect("\(String(describing: failure))".contains("user 65534"))
        #expect(outcome.attempts.map(\.result.timings.headOut) == [nil])
        #expect(try await stranger.result().outputText == "listening\n0\n")
    }
}
