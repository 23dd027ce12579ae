// SPDX-License-Identifier: Apache-2.0

import Cryptography
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import SpeechService
@testable import Utter

/// Takes whose upload goes on after a break, on real sockets.
@Suite struct UploadTakeTests {
    /// What a service has of an upload.
    private final class Store: Sendable {
        private let state = Mutex(([UInt8](), length: String?.none))
        var bytes: [UInt8] { state.withLock { $0.0 } }

        func append(_ bytes: [UInt8]) { state.withLock { $0.0 += bytes } }

        /// Keeps the length that a request says.
        func hear(_ request: RecordedRequest) {
            guard let length = request["Upload-Length"] else { return }
            state.withLock { $0.length = length }
        }

        /// Says the offset, and the length if it was said.
        func answer() -> ServerStep {
            .respondBy { [self] _ in
                var head = ["Upload-Offset": "\(bytes.count)"]
                head["Upload-Length"] = state.withLock { $0.length }
                return ServerAnswer(status: 204, headers: fields(head), text: "")
            }
        }

        /// Takes a body until `count` bytes of it have come, and breaks the connection.
        func takePart(_ count: Int) -> [ServerStep] {
            [.readBody(bytes: count), .perform { [self] in append($0.body) }, .reset]
        }

        /// Says where the upload is, and takes a part of it.
        ///
        /// A reset may overtake what was said before it, so it waits until the gate says that the
        /// client has heard it.
        func inviteAndTakePart(_ count: Int, until isHeard: Gate) -> [ServerStep] {
            [.readHead, UploadTakeTests.invitation, .readBody(bytes: count), .stallUntil(isHeard)]
                + takePart(count)
        }

        var takeRest: [ServerStep] {
            [
                .readHead, .readBodyToEnd, .perform { [self] in append($0.body) },
                .respond(
                    status: 200,
                    headers: fields(["Content-Type": "text/plain", "Upload-Complete": "?1"]),
                    body: Array("well".utf8)),
            ]
        }
    }

    fileprivate static let invitation = ServerStep.sendRaw(
        Array(
            ("HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: 8\r\n"
                + "Location: /uploads/secret\r\n\r\n").utf8))

    private static let sound: [Int16] = {
        var random = SeededRandom(seed: 11)
        return random.noise(count: 16_000)
    }()

    /// Sends the sound as an upload.
    private func replay(
        by bench: Bench, to server: RecordingServer, _ kind: UploadProtocol = .resumable,
        retry: RetryPolicy = FaultBench.quick
    ) throws -> Take {
        try bench.replay(Self.sound, to: server.url(), retry: retry) {
            $0.delivery.service.exchange = .upload(kind)
        }
    }

    private func check(_ outcome: TakeOutcome, _ store: Store) {
        #expect(outcome.text == "well")
        let isSame = store.bytes == WAVBytes.pcm(Self.sound)
        #expect(isSame, "\(store.bytes.count) bytes came")
        #expect(outcome.imbalance == nil)
        #expect(!outcome.mayBeDoubled)
        #expect(outcome.account.sentBytes == store.bytes.count)
        #expect(outcome.attempts.allSatisfy { !$0.url.contains("secret") })
    }

    @Test func aBreakCostsAQuestionAndTheRest() async throws {
        let (store, isHeard) = (Store(), Gate())
        let server = try RecordingServer(scripts: [
            store.inviteAndTakePart(8_000, until: isHeard),
            [.readHead, store.answer()],
            store.takeRest,
        ])
        let bench = try Bench()
        let take = try replay(by: bench, to: server)
        #expect(await bench.wait(untilUploadOf: take))
        isHeard.open()
        let outcome = try await take.end()
        check(outcome, store)
        let requests = server.requests
        #expect(requests.map(\.method) == ["POST", "HEAD", "PATCH"])
        #expect(requests[0]["Upload-Complete"] == "?1")
        #expect(requests[0]["Upload-Draft-Interop-Version"] == "8")
        #expect(requests[0]["Expect"] == nil)
        #expect(requests[2]["Content-Type"] == "application/partial-upload")
        #expect(requests[2]["Upload-Offset"] == "\(requests[0].body.count)")
        #expect(requests[2].body.count == store.bytes.count - requests[0].body.count)
        #expect(outcome.attempts.count == 3)
    }

    @Test func manyBreaksOfALiveTakeLoseNoSample() async throws {
        let (store, isHeard) = (Store(), Gate())
        var scripts = [store.inviteAndTakePart(2_000, until: isHeard)]
        for _ in 0..<5 {
            scripts += [[.readHead, store.answer()], [.readHead] + store.takePart(2_000)]
        }
        scripts += [[.readHead, store.answer()], store.takeRest]
        let server = try RecordingServer(scripts: scripts)
        let bench = try Bench()
        let (speaker, take, _) = try bench.speak(to: server.url(), retry: FaultBench.quick) {
            $0.delivery.service.exchange = .upload(.resumable)
        }
        for part in 0..<6 {
            speaker.say(Array(Self.sound[(part * 2_000)..<((part + 1) * 2_000)]))
            if part == 0 {
                #expect(await bench.wait(untilUploadOf: take))
                isHeard.open()
            }
            // It breaks there, and is asked about.
            #expect(await server.waitForRequest(part * 2 + 1) != nil)
        }
        speaker.say(Array(Self.sound[12_000...]))
        // Pauses are for a speaker who speaks on.
        #expect(await server.waitForRequest(scripts.count - 1) != nil)
        speaker.fallSilent()
        check(try await take.end(), store)
        #expect(server.requests.count == scripts.count)
    }

    @Test func anotherProcessGoesOnWithTheUpload() async throws {
        let (store, isHeard) = (Store(), Gate())
        let server = try RecordingServer(
            scripts: [
                store.inviteAndTakePart(8_000, until: isHeard),
                [.readHead, store.answer()], store.takeRest,
            ])
        let bench = try Bench()
        let take = try replay(by: bench, to: server, retry: .never)
        #expect(await bench.wait(untilUploadOf: take))
        isHeard.open()
        let broken = try await take.end()
        #expect(throws: TakeFailure.self) { try broken.result.get() }
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.progress?.values["upload"]?.hasSuffix("/uploads/secret") == true)
        // What the disk tells a person does not have it.
        #expect(manifest.history?.contains { $0.url?.contains("secret") == true } == false)
        let count = server.requests.count
        check(try await bench.resend(broken, by: take.delivery), store)
        #expect(server.requests[count...].map(\.method) == ["HEAD", "PATCH"])
    }

    @Test func tusGetsTheRecordingAndThenItsLength() async throws {
        let store = Store()
        let isCaptured = Gate()
        let server = try RecordingServer(scripts: [
            [
                .readHead, .readBodyToEnd, .perform(store.hear),
                .respond(status: 201, headers: fields(["Location": "/files/secret"])),
            ],
            [.readHead, .perform(store.hear)] + store.takePart(4_000),
            [.readHead, .stallUntil(isCaptured), store.answer()],
            store.takeRest,
        ])
        let bench = try Bench()
        let take = try replay(by: bench, to: server, .tus)
        let listener = Task {
            for await event in take.events where event.isCaptured { isCaptured.open() }
        }
        let outcome = try await take.end()
        await listener.value
        check(outcome, store)
        let requests = server.requests
        #expect(requests[0].body.isEmpty)
        #expect(requests.allSatisfy { $0["Tus-Resumable"] == "1.0.0" })
        #expect(requests[1]["Content-Type"] == "application/offset+octet-stream")
        // In whichever request is the first to know it.
        let said = requests.compactMap { $0["Upload-Length"] }
        #expect(said == ["\(store.bytes.count)"])
    }

    /// Before the upload of a recording that is complete is made, and never again, whether it answers or
    /// not.
    @Test(arguments: [true, false])
    func aTusServerIsAskedWhatItOffers(_ isAnswered: Bool) async throws {
        let store = Store()
        let words = ["Tus-Extension": "creation,checksum", "Tus-Checksum-Algorithm": "sha1,sha256"]
        let answer = isAnswered ? ServerStep.respond(status: 204, headers: fields(words)) : .readOn
        let server = try RecordingServer(scripts: [
            [.readHead, answer],
            [
                .readHead, .readBodyToEnd,
                .respond(status: 201, headers: fields(["Location": "/files/secret"])),
            ],
            [.readHead] + store.takePart(8_000),
            [.readHead, store.answer()], store.takeRest,
        ])
        let bench = try Bench()
        let take = try bench.replay(Self.sound, to: server.url(), retry: FaultBench.quick) {
            $0.delivery.service.exchange = .upload(.tus)
            $0.isCompleteSoon = true
        }
        check(try await take.end(), store)
        let requests = server.requests
        #expect(requests.map(\.method) == ["OPTIONS", "POST", "PATCH", "HEAD", "PATCH"])
        #expect(requests[0].body.isEmpty && requests[0]["Tus-Resumable"] == nil)
        #expect(requests[1]["Upload-Length"] == "\(store.bytes.count)")
        for (request, start) in [(requests[2], 0), (requests[4], requests[2].body.count)] {
            let sent = Array(store.bytes[start...])
            var digest = SHA256()
            digest.update(sent.span)
            let text = "sha256 " + Data(digest.bytes).base64EncodedString()
            #expect(request["Upload-Checksum"] == (isAnswered ? text : nil))
        }
    }

    /// The whole hour runs with UTTER_SOAK=1: else a tenth of it, with as many offsets for each byte as
    /// need a bound that grows.
    @Test(
        arguments: getenv("UTTER_SOAK") == nil
            ? [(seconds: 360, piece: 16 << 10)] : [(3_600, 64 << 10)])
    func anHourOfOffsetsEndsInOneRun(_ seconds: Int, _ piece: Int) async throws {
        var random = SeededRandom(seed: 12)
        let second = random.noise(count: 16_000)
        let samples = Array(repeatElement(second, count: seconds).joined())
        let sound = WAVBytes.pcm(samples)
        let offsets = stride(from: piece, through: sound.count, by: piece).flatMap { count in
            let head = "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: \(count)\r\n\r\n"
            return [ServerStep.readBody(bytes: count), .sendRaw(Array(head.utf8))]
        }
        let server = try RecordingServer(scripts: [
            [.readHead, Self.invitation] + offsets + [
                .readBodyToEnd, .respond(status: 200, text: "well"),
            ]
        ])
        let bench = try Bench()
        let take = try bench.replay(samples, to: server.url()) {
            $0.delivery.service.exchange = .upload(.resumable)
        }
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "well")
        #expect(outcome.attempts.count == 1)
        #expect(server.requests.count == 1)
        let isSame = server.requests[0].body == sound
        #expect(isSame, "\(server.requests[0].body.count) bytes came")
    }

    @Test func anUploadInPiecesArrivesWhole() async throws {
        let store = Store()
        let piece = ["Upload-Limit": "max-append-size=10000"]
        let more: [ServerStep] = [
            .readHead, .readBodyToEnd, .perform { store.append($0.body) },
            .respondBy { _ in
                ServerAnswer(
                    status: 204,
                    headers: fields([
                        "Upload-Offset": "\(store.bytes.count)", "Upload-Complete": "?0",
                    ]), text: "")
            },
        ]
        let server = try RecordingServer(scripts: [
            [
                .readHead,
                .respond(status: 413, headers: fields(piece) + fields(["Connection": "close"])),
                .readOn,
            ],
            [
                .readHead, .readBodyToEnd,
                .respond(
                    status: 201,
                    headers: fields(piece)
                        + fields(["Location": "/uploads/secret", "Upload-Complete": "?0"])),
            ],
            more, more, more, store.takeRest,
        ])
        let bench = try Bench()
        let take = try replay(by: bench, to: server)
        check(try await take.end(), store)
        let counts = server.requests.dropFirst(2).map { $0.body.count }
        #expect(counts == [10_000, 10_000, 10_000, 2_000])
    }
}

private func fields(_ fields: [String: String]) -> [TestSupport.HeaderField] {
    fields.map { TestSupport.HeaderField($0.key, $0.value) }
}
