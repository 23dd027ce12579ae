// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import SpeechService
@testable import Utter

/// A secret is asked for while the voice speaks, and no request begins before the answer.
@Suite struct TakeSecretTests {
    private let server: RecordingServer
    private let period = TestSignal.voice(frames: 320, sampleRate: 16_000)
    private let named = Credential(askedOf: .command("pass speech"))

    init() throws { server = try RecordingServer(otherwise: .answer(text: "go")) }

    /// A service that refuses the first request.
    private static func refusing(_ status: Int = 401) throws -> RecordingServer {
        try RecordingServer(
            scripts: [.answer(status: status, text: "old key")], otherwise: .answer(text: "go"))
    }

    @Test func theVoiceIsRecordedWhileASecretIsAskedFor() async throws {
        let (asked, answer) = (Gate(), Gate())
        let bench = try Bench { question in
            asked.open()
            #expect(question.source == .command("pass speech"))
            #expect(await answer.wait())
            return "sesame"
        }
        let (speaker, take, log) = try bench.speak(to: server.url()) {
            $0.delivery.service.add(named)
        }
        #expect(!asked.isOpen)
        speaker.say(period)
        #expect(await asked.wait())
        speaker.say(period)
        speaker.fallSilent()
        #expect(await log.wait { $0.isCaptured })
        #expect(server.requests.isEmpty)
        answer.open()
        let outcome = try await take.end()
        #expect(outcome.text == "go")
        let request = try #require(await server.finishedRequest())
        #expect(request["Authorization"] == "Bearer sesame")
        #expect(request.body == WAVBytes.pcm(period + period))
        #expect(outcome.attempts.map(\.number) == [1])
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.delivery?.secrets?.first?.command == "pass speech")
    }

    @Test func eachFieldOfAFileIsSentAndAskedForOnceMoreWhenItIsRefused() async throws {
        let server = try Self.refusing()
        let questions = Mutex<[SecretQuestion]>([])
        let bench = try Bench { question in
            let count = questions.withLock { questions in
                questions.append(question)
                return questions.count
            }
            return "X-Key: sesame\(count)\nX-Mine: file\nX-Model: large"
        }
        let add = { (plan: inout TakePlan) in
            plan.delivery.service.add(Credential(headerFile: "/run/fields"))
            plan.delivery.service.add(try Credential(place: .header("x-mine"), secret: "given"))
        }
        let take = try bench.replay(period, to: server.url(), change: add)
        let outcome = try await take.end()
        #expect(outcome.text == "go")
        #expect(outcome.attempts.map(\.number) == [1, 2])
        #expect(server.requests.map { $0["X-Key"] ?? "" } == ["sesame1", "sesame2"])
        for request in server.requests {
            #expect(request.values(of: "X-Mine") == ["given"])
            #expect(request["X-Model"] == "large")
        }
        let asked = questions.withLock { $0 }
        #expect(asked.map(\.source) == [.headerFile("/run/fields"), .headerFile("/run/fields")])
        #expect(asked.map(\.isRefused) == [false, true])
        let secrets = try await bench.manifest(of: take).delivery?.secrets
        #expect(secrets?.compactMap(\.headerFile) == ["/run/fields"])
        // The next take has what the last one was accepted with.
        #expect(try await bench.replay(period, to: server.url(), change: add).end().text == "go")
        #expect(questions.withLock { $0.count } == 2)
    }

    @Test(arguments: [(407, false), (401, true)])
    func theLoginOfAProxyIsAskedForOnceMoreWhenItIsRefused(
        _ status: Int, _ mayBeTheTokens: Bool
    ) async throws {
        // Over plain HTTP a proxy answers as the service does.
        let proxy = try Self.refusing(status)
        let questions = Mutex<[SecretQuestion]>([])
        let bench = try Bench { question in
            let isNew = question.isRefused
            questions.withLock { $0.append(question) }
            if case .command = question.source { return "sesame" }
            return isNew ? "name:new" : "name:old"
        }
        let take = try bench.replay(period, to: "http://127.0.0.1:9/x") { plan in
            plan.delivery.service.add(named)
            plan.delivery.service.connection.proxy = try Proxy(proxy.url(""))
            plan.delivery.service.connection.proxyExceptions = []
            plan.delivery.service.add(
                Credential(askedOf: .file("/run/login"), place: .proxy, form: .plain))
        }
        #expect(try await take.end().text == "go")
        #expect(
            proxy.requests.map { $0["Proxy-Authorization"] ?? "" }
                == ["Basic bmFtZTpvbGQ=", "Basic bmFtZTpuZXc="])
        let (token, login) = (SecretSource.command("pass speech"), SecretSource.file("/run/login"))
        let asked = questions.withLock { $0 }
        #expect(asked.filter { !$0.isRefused }.map(\.source) == [token, login])
        // A token that the service has not seen is not asked for again.
        #expect(
            asked.filter(\.isRefused).map(\.source) == (mayBeTheTokens ? [token, login] : [login]))
        let remembered = try await bench.manifest(of: take).delivery?.proxyLogin
        #expect(remembered?.file == "/run/login")
    }

    @Test func aTakeThatIsRefusedWithTheSameSecretIsKept() async throws {
        let server = try RecordingServer(
            otherwise: .answer(
                status: 401, headers: [HeaderField("Content-Type", "text/plain")], text: "no"))
        let bench = try Bench { _ in "key" }
        let take = try bench.replay(period, to: server.url()) { $0.delivery.service.add(named) }
        let outcome = try await take.end()
        #expect(outcome.result == .failure(.tokenRefused(status: 401, message: "no")))
        #expect(server.requests.count == 1)
        #expect(try await bench.manifest(of: take).state == .kept)
    }

    @Test func aTakeWithoutItsSecretIsKeptUnsentAndGoesOutWhenThereIsOne() async throws {
        struct Cancelled: Error, CustomStringConvertible {
            let description = "the dialog was cancelled"
        }
        let isCancelled = Atomic(true)
        let bench = try Bench { _ in
            if isCancelled.exchange(false, ordering: .relaxed) { throw Cancelled() }
            return "sesame"
        }
        let (speaker, take, log) = try bench.speak(to: server.url()) {
            $0.delivery.service.add(named)
        }
        speaker.say(period)
        #expect(await log.wait { $0.isRefused })
        speaker.say(period)
        speaker.fallSilent()
        let outcome = try await take.end()
        #expect(outcome.result == .failure(.secretMissing(reason: "the dialog was cancelled")))
        #expect(outcome.account.capturedFrames == 640)
        #expect(server.requests.isEmpty)
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.state == .kept)
        #expect(manifest.attempts == 0)

        let folder = try bench.spool.store().take(take.id)
        let again = try bench.pipeline.resend(folder, by: take.run.plan)
        #expect(try await again.end().text == "go")
        let request = try #require(await server.finishedRequest())
        #expect(request.body == WAVBytes.pcm(period + period))
        #expect(request["Authorization"] == "Bearer sesame")
    }

    @Test func aTakeThatIsCancelledWaitsForNoSecret() async throws {
        let (asked, answer) = (Gate(), Gate())
        let count = Atomic(0)
        let bench = try Bench { _ in
            count.add(1, ordering: .relaxed)
            asked.open()
            #expect(await answer.wait())
            return "sesame"
        }
        let (speaker, take, _) = try bench.speak(to: server.url()) {
            $0.delivery.service.add(named)
        }
        speaker.say(period)
        #expect(await asked.wait())
        take.cancel()
        #expect(try await take.end().result == .failure(.cancelled))
        // The question has no taker any more.
        #expect(await comesTrue { bench.pipeline.secrets.openCount == 0 })
        answer.open()
        // The next take asks anew; a request of the cancelled one would be there before its answer.
        let next = try bench.replay(period + period, to: server.url()) {
            $0.delivery.service.add(named)
        }
        #expect(try await next.end().text == "go")
        #expect(server.requests.map(\.body) == [WAVBytes.pcm(period + period)])
        #expect(count.load(ordering: .relaxed) == 2)
    }
}
