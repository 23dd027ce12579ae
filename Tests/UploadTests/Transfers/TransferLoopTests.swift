// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

@Suite final class TransferLoopTests {
    private let loop: TransferLoop

    init() throws { loop = try TransferLoop() }
    deinit { loop.shutDown() }

    @Test func aHundredTransfersShareOneLoop() async throws {
        var random = SeededRandom()
        let server = try RecordingServer()
        var uploads: [Upload] = []
        var bodies: [[UInt8]] = []
        for number in 0..<100 {
            uploads.append(try Upload(to: server.url("/\(number)"), on: loop))
            bodies.append(random.bytes(Int.random(in: 0...20_000, using: &random)))
        }
        // A piece of each in turn, so that all of them are under way together.
        for part in 0..<10 {
            for (upload, body) in zip(uploads, bodies) {
                let range = body.count * part / 10..<body.count * (part + 1) / 10
                try upload.append(Array(body[range]))
            }
        }
        for upload in uploads { upload.seal() }
        for upload in uploads {
            let result = try #require(await upload.result())
            #expect(result.ending == .answered, "seed \(random.seed)")
        }
        var received: [String: [UInt8]] = [:]
        for number in 0..<100 {
            let request = try #require(await server.finishedRequest(number))
            #expect(request.framingErrors.isEmpty)
            received[request.target] = request.body
        }
        for (number, body) in bodies.enumerated() {
            #expect(received["/\(number)"] == body, "seed \(random.seed), body \(number)")
        }
    }

    @Test func oneStalledServerHoldsUpNobodyElse() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readBody(bytes: 1), .stall(.ages)]],
            receiveBufferBytes: 8_192)
        let stalled = try Upload(
            to: server.url("/stalled"), bytes(12_000_000),
            deadlines: TransferDeadlines(stall: .ages), on: loop)
        _ = await server.wait(untilBytes: 1)
        for number in 1...20 {
            let other = try Upload(to: server.url(), bytes(6_400), isSealed: true, on: loop)
            #expect(try #require(await other.result()).ending == .answered)
            #expect(try #require(await server.finishedRequest(number)).body == bytes(6_400))
        }
        #expect(stalled.recorder.record.look { $0.results.isEmpty })
    }

    @Test func noConnectionOutlivesItsTransfer() async throws {
        // The server keeps its side open until the client closes.
        let script: [ServerStep] = [.readHead, .readBodyToEnd, .respond(status: 200), .readOn]
        let server = try RecordingServer(otherwise: script)
        for number in 0..<5 {
            let upload = try Upload(to: server.url(), bytes(64), isSealed: true, on: loop)
            #expect(try #require(await upload.result()).ending == .answered)
            // Finished means that `readOn` saw the end of the connection.
            let request = await server.finishedRequest(number)
            #expect(request?.connection == number)
        }
        #expect(server.connectionCount == 5)
    }

    private func isCancelled(_ upload: Upload) -> Bool {
        upload.recorder.record.look { $0.results.map(\.ending) } == [.cancelled]
    }

    @Test func shuttingDownEndsWhatRuns() async throws {
        let server = try RecordingServer()
        let uploads = try (0..<10).map { _ in try Upload(to: server.url(), bytes(640), on: loop) }
        for number in 0..<10 { _ = await server.wait(untilBytes: 640, ofRequest: number) }
        loop.shutDown()
        #expect(uploads.allSatisfy { isCancelled($0) })
        for number in 0..<10 {
            #expect(try #require(await server.finishedRequest(number)).lastChunkAt == nil)
        }
    }

    @Test func everyTransferIsToldItsEndHoweverLateItCame() async throws {
        let server = try RecordingServer()
        for _ in 0..<20 {
            let loop = try TransferLoop()
            let racing = try (0..<5).map { _ in try Upload(to: server.url(), on: loop) }
            loop.shutDown()
            let late = try Upload(to: server.url(), on: loop)
            #expect((racing + [late]).allSatisfy { isCancelled($0) })
        }
    }

    @Test func aShutDownDoesNotWaitForAConnect() async throws {
        let server = try RecordingServer(connecting: .whenReleased)
        let upload = try Upload(to: server.url(), bytes(640), on: loop)
        loop.shutDown()
        #expect(isCancelled(upload))
    }

    @Test func aPausedTransferBeginsWhenItIsHurried() async throws {
        let (server, upload) = try Upload.begin(bytes(640), isSealed: true, after: .seconds(600))
        #expect(await upload.result(within: .milliseconds(300)) == nil)
        #expect(server.connectionCount == 0)
        upload.hurry()
        #expect(try #require(await upload.result()).ending == .answered)
    }

    @Test func aPausedTransferBeginsByItself() async throws {
        let (_, upload) = try Upload.begin(bytes(640), isSealed: true, after: .milliseconds(300))
        #expect(try #require(await upload.result()).ending == .answered)
    }

    @Test func noHurryShortensWhatTheServiceAskedFor() async throws {
        let began = MonotonicTime.now
        let (server, upload) = try Upload.begin(
            bytes(640), isSealed: true, after: .seconds(600), atLeast: .milliseconds(700))
        upload.hurry()
        #expect(try #require(await upload.result()).ending == .answered)
        let request = try #require(server.requests.first)
        #expect(request.acceptedAt - began >= .milliseconds(700))
    }

    @Test func aTransferIsCancelledInItsPause() async throws {
        let (server, upload) = try Upload.begin(bytes(640), isSealed: true, after: .seconds(600))
        upload.cancel()
        #expect(try #require(await upload.result()).ending == .cancelled)
        #expect(server.connectionCount == 0)
    }

    private static let early: [ServerStep] = [
        .beginResponse(status: 200), .sendBodyChunk(text: "all"), .endResponse,
    ]

    /// The bytes of a body, whether that is all of it, and what the server does once it has 640.
    @Test(
        arguments: [
            // The speaker is silent, the recogniser thinks, or the server does not read.
            (640, false, [.readOn]), (640, true, [.readBodyToEnd, .readOn]),
            (12_000_000, false, [.stall(.ages)]),
            // An answer, or a refusal, is under way in silence.
            (640, false, [.beginResponse(status: 200), .sendBodyChunk(text: "part"), .readOn]),
            (640, false, [.beginResponse(status: 401), .sendBodyChunk(text: "no"), .readOn]),
            // An early answer is complete, and the server's side may be closed.
            (640, false, early + [.readOn]), (640, false, early + [.halfClose, .readOn]),
        ] as [(Int, Bool, [ServerStep])])
    func waitingWakesNobody(
        _ byteCount: Int, isSealed: Bool, _ rest: [ServerStep]
    ) async throws {
        let (server, upload) = try Upload.begin(
            bytes(byteCount), isSealed: isSealed,
            by: [.readHead, .readBody(bytes: 640)] + rest,
            deadlines: TransferDeadlines(stall: .ages, refusal: .ages), receiveBufferBytes: 8_192)
        _ = await server.wait(untilBytes: 640)
        #expect(try await upload.recorder.comesToRest())
        #expect(upload.recorder.record.look { $0.results.isEmpty })
    }

    @Test func aLoopWithoutTransfersWaits() async throws {
        let server = try RecordingServer()
        let upload = try Upload(to: server.url(), bytes(1), isSealed: true, on: loop)
        _ = try #require(await upload.result())
        #expect(try await upload.recorder.comesToRest())
    }

    /// One more than libcurl takes (`CURL_MAX_INPUT_LENGTH`).
    private static let tooLong = String(repeating: "a", count: 8_000_001)

    /// What libcurl refuses of a request ends that transfer, and says what it was.
    @Test(arguments: ["CURLOPT_URL", "CURLOPT_CAINFO", "CURLOPT_MAXAGE_CONN"])
    func anOptionThatIsRefusedEndsTheTransfer(_ option: String) async throws {
        let server = try RecordingServer()
        let upload = try Upload(to: server.url(), bytes(640), isSealed: true, on: loop) {
            switch option {
            case "CURLOPT_URL": $0.url += Self.tooLong
            case "CURLOPT_CAINFO": $0.connection.certificateFile = "/" + Self.tooLong
            default: $0.longestIdleTime = .seconds(-2)
            }
        }
        let reason = try #require(await upload.result()).reason { .unprepared($0) }
        #expect(reason.contains(option))
        #expect(server.connectionCount == 0)
        // Others are sent all the same.
        let other = try Upload(to: server.url(), bytes(640), isSealed: true, on: loop)
        #expect(try #require(await other.result()).ending == .answered)
    }
}
