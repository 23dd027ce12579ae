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
        let speech = try bench.folder.write(
            WAVBytes.speech(SocketService.samples(Self.words)), to: "speech.wav")
        return try await bench.pipeline.start(
            TakePlan(source: FileReplay(path: speech, pace: .unpaced), delivery: plan)
        ).end()
    }

    @Test func nothingIsSentBeforeTheRecogniserIsReady() async throws {
        let service = try await SocketService(at: path)
        let outcome = try await send(by: try plan())
        #expect(outcome.text == SocketService.text(Self.words))
        let session = try #require(try await service.sessions(1).first)
        #expect(session.dropped == 0)
        #expect(session.audio == Self.words.count * 4_800 * 2)
        #expect(session.path == "/desktop")
        #expect(session.host == "localhost")
        #expect(session.authorization == nil)
        #expect(outcome.attempts.map(\.url) == ["unix:\(path)"])
    }

    @Test func whatMayChangeAndWhatIsSettledIsShown() async throws {
        let service = try await SocketService(at: path)
        let speaker = try Speaker()
        let plan = try plan()
        let take = try bench.start(speaker.source, to: "http://127.0.0.1:9/") { $0.delivery = plan }
        let log = EventLog(take)
        speaker.say(SocketService.samples([3, 5]))
        let isHeard = await log.wait { event in
            if case .heard(let words) = event { words.displayText == "w3 w5" } else { false }
        }
        #expect(isHeard)
        speaker.say(SocketService.samples([7]))
        speaker.fallSilent()
        #expect(try await take.end().text == "w3 w5 w7")
        withExtendedLifetime(service) {}
    }

    /// A close before the text is complete is no text, and another session gets the recording.
    @Test(arguments: ["drop=33333", "close-after=33333&code=1000", "close-after=33333&code=1011"])
    func aSessionThatEndsTooSoonIsNoText(_ asked: String) async throws {
        let service = try await SocketService(at: path)
        let outcome = try await send(by: try plan(asked, retry: SocketTakeTests.patient))
        let sessions = try await service.sessions(asked.hasSuffix("1000") ? 1 : 2)
        if asked.hasSuffix("1000") {
            #expect(throws: TakeFailure.self) { try outcome.result.get() }
        } else {
            #expect(outcome.text == SocketService.text(Self.words))
            #expect(sessions.count == 2)
        }
    }

    @Test func aSocketThatIsNotThereIsTriedAgain() async throws {
        let plan = try plan(retry: SocketTakeTests.patient)
        let outcome = try await send(by: plan)
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
        guard case .unprepared(let reason)? = outcome.attempts.first?.result.ending else {
            Issue.record("\(outcome.attempts)")
            return
        }
        #expect(reason == "the service's address names no socket")
    }

    @Test func aLinkIsFollowedWhenItIsNamed() async throws {
        let service = try await SocketService(at: path)
        let link = bench.folder.path("link")
        #expect(symlink(path, link) == 0)
        let plan = try plan(at: link)
        #expect(plan.service.url.origin.description == "unix:\(path)")
        #expect(try await send(by: plan).text == SocketService.text(Self.words))
        withExtendedLifetime(service) {}
    }

    @Test func noProxyIsOnTheWay() async throws {
        let service = try await SocketService(at: path)
        var plan = try plan()
        plan.service.connection.proxy = .url("http://127.0.0.1:9")
        #expect(try await send(by: plan).text == SocketService.text(Self.words))
        withExtendedLifetime(service) {}
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
