// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// Uploads of 1000 bytes to services that only store, and how long their requests are.
@Suite struct UploadProofTests {
    static let size = 1_000
    static let made = [
        ("upload-draft-interop-version", "8"), ("location", "/uploads/secret"),
    ]
    static let whole = [("upload-offset", "1000"), ("upload-length", "1000")]
    static let page = [("content-type", "text/html; charset=utf-8")]

    private func exchange(
        _ kind: UploadProtocol = .tus, largest: Int? = nil
    ) throws -> UploadExchange {
        var service = try RecognitionService(url: ServiceURL("http://127.0.0.1:9/files"))
        service.answer.empty = .stored
        service.exchange = .upload(kind, largest: largest)
        return UploadExchange(
            kind, DeliveryPlan(service: service, format: .wav, retry: FaultBench.quick))
    }

    /// The upload is made, and named.
    private func begun(_ kind: UploadProtocol = .tus) throws -> UploadExchange {
        var exchange = try exchange(kind)
        if kind == .tus {
            _ = exchange.answer(201, Self.made)
        } else {
            let fields = Self.made.map { (name: $0.0, value: $0.1) }
            exchange.learn(from: AnswerHead(headers: fields))
        }
        return exchange
    }

    /// Only these say that a store which has all of it has no text.
    @Test(arguments: [
        (204, true), (400, true), (404, true), (403, true), (405, false), (409, false),
        (410, false), (503, false),
    ])
    func anUploadWhoseLastAnswerIsLostIsAskedForItsText(
        _ status: Int, _ isStored: Bool
    ) throws {
        for kind in [UploadProtocol.tus, .resumable] {
            var exchange = try begun(kind)
            _ = exchange.answer(nil, sent: Self.size)
            #expect(exchange.asked == .ask)
            let state = kind == .tus ? Self.whole : Self.whole + [("upload-complete", "?1")]
            _ = exchange.answer(204, state)
            #expect(exchange.asked == .append)
            #expect(exchange.request.upload?.start == Self.size)
            #expect((exchange.answer(status) == .answered) == isStored)
            #expect((exchange.progress == nil) == isStored)
        }
    }

    @Test(
        arguments: [
            (.tus, 204, []), (.tus, 200, page + whole), (.tus, 204, page),
            (.resumable, 204, []), (.resumable, 200, page + [("upload-complete", "?1")]),
            (.resumable, 201, [("upload-complete", "?1"), ("upload-offset", "400")]),
        ] as [(UploadProtocol, Int, [(String, String)])])
    func aGoodStatusAloneProvesNothing(
        _ kind: UploadProtocol, _ status: Int, _ fields: [(String, String)]
    ) throws {
        var exchange = try begun(kind)
        guard case .request = exchange.answer(status, fields, sent: Self.size) else {
            Issue.record("it is believed")
            return
        }
        #expect(exchange.asked == .ask)
        // A store that has less gets the rest.
        _ = exchange.answer(204, [("upload-offset", "300")])
        #expect(exchange.request.upload?.start == 300)
    }

    /// A page, an answer without the fields, and an upload that has another length.
    @Test(arguments: [
        page, [], [("upload-offset", "400"), ("upload-length", "400")],
    ])
    func anAnswerThatSaysNothingEndsNoUpload(_ fields: [(String, String)]) throws {
        var exchange = try begun()
        _ = exchange.answer(nil, sent: Self.size)
        for _ in 0..<20 {
            let sent = exchange.asked == .append ? 600 : 0
            switch exchange.answer(200, fields, sent: sent) {
            case .answered, .answeredInPart, .idle:
                Issue.record("it is believed")
                return
            case .failed(let failure):
                #expect(failure.isForGood == (fields.count == 2))
                #expect(exchange.progress?.values["upload"]?.hasSuffix("secret") == true)
                return
            case .request: break
            }
        }
        Issue.record("it has no end")
    }

    /// From all that is left down to 256 KiB, and no further.
    @Test(arguments: [UploadProtocol.tus, .resumable])
    func aRequestThatIsTooLongIsHalved(_ kind: UploadProtocol) throws {
        var exchange = try begun(kind)
        let size = 3_000_000
        var limits: [Int?] = []
        while case .request = exchange.answer(413, size: size), limits.count < 9 {
            #expect(exchange.asked == .ask)
            _ = exchange.answer(204, [("upload-offset", "0")], size: size)
            limits.append(exchange.request.upload?.limit)
        }
        #expect(limits == [1_500_000, 750_000, 375_000, 262_144])
    }

    /// While the speaker speaks, a full piece is followed by the next one at once.
    @Test func aFullPieceIsNotTheEnd() throws {
        for isComplete in [true, false] {
            var exchange = try exchange(largest: 400)
            _ = exchange.answer(201, Self.made, isComplete: isComplete)
            for offset in [400, 800] {
                let state = [("upload-offset", "\(offset)")]
                _ = exchange.answer(204, state, sent: 400, isComplete: isComplete)
                #expect(exchange.asked == .append)
                #expect(exchange.request.upload?.start == offset)
                #expect(exchange.request.upload?.limit == 400)
                #expect(exchange.request.saysLength == isComplete)
            }
            #expect(exchange.answer(204, [("upload-offset", "1000")], sent: 200) == .answered)
        }
    }

    @Test func piecesAreOfTheLengthThatTheProfileSays() throws {
        let exchange = try exchange(.resumable, largest: 400)
        #expect(exchange.asked == .createEmpty)
    }

    @Test(arguments: [("tus-max-size", "900"), ("upload-limit", "max-size=900, max-age=60")])
    func aRecordingThatIsTooLongForTheServiceIsRefusedInWords(
        _ name: String, _ value: String
    ) throws {
        for status in [201, 413] {
            var exchange = try exchange()
            #expect(
                exchange.answer(status, Self.made + [(name, value)])
                    == .failed(
                        .refused(
                            status: 413,
                            message: "an upload has at most 900 bytes, and this is 1000")))
        }
    }

    /// An answer says what it says, and none ends the take.
    @Test(arguments: [200, 204, 302, 401, 404, 405, 413, 500, nil])
    func whateverIsOfferedTheUploadIsMade(_ status: Int?) throws {
        for isOffered in [true, false] {
            var exchange = try exchange()
            let recording = RecordingExtent(byteCount: Self.size, isComplete: true)
            let first = exchange.begin(lane: 0, of: recording)
            guard case .request(let request) = first, request.step?.method == .options else {
                Issue.record("\(first)")
                return
            }
            let offer = [("tus-checksum-algorithm", "sha1,sha256"), ("tus-max-size", "1000")]
            let fields = isOffered ? offer : Self.page
            #expect(exchange.end(status, fields) == .request(after: Pause(isOfNextStep: true)))
            _ = exchange.begin(lane: 0, of: recording)
            #expect(exchange.asked == .createEmpty)
            _ = exchange.end(201, Self.made)
            #expect(exchange.request.upload?.saysChecksum == isOffered)
        }
    }

    @Test func aLiveRecordingWaitsForNoOffer() throws {
        for isComplete in [true, false] {
            var exchange = try exchange(isComplete ? .resumable : .tus)
            _ = exchange.begin(
                lane: 0, of: RecordingExtent(byteCount: Self.size, isComplete: isComplete))
            #expect(exchange.asked == (isComplete ? .create : .createEmpty))
        }
    }

    /// However often it says so, and whatever it said that it had before.
    @Test func anAppendThatProvesNothingIsNeverBelieved() throws {
        var exchange = try begun()
        for _ in 0..<60 {
            let isAppend = exchange.asked == .append
            let next = exchange.answer(
                204, isAppend ? [] : [("upload-offset", "300")],
                sent: isAppend ? Self.size - 300 : 0)
            if case .failed = next {
                return #expect(exchange.progress?.values["upload"] != nil)
            }
            guard case .request = next else {
                Issue.record("it is believed")
                return
            }
        }
        Issue.record("it has no end")
    }

    /// Of what is there as a whole; a mismatch (460) is asked about.
    @Test func aChecksumIsSaidWhereThatIsOffered() throws {
        for isComplete in [true, false] {
            var exchange = try exchange()
            let offer = [("tus-checksum-algorithm", "md5,sha1,sha256")]
            _ = exchange.answer(201, Self.made + offer, isComplete: isComplete)
            let use = try #require(exchange.request.upload)
            #expect(use.saysChecksum == isComplete)
            let fields = use.fields(
                of: RequestBody([1]), mediaType: "", name: "", isComplete: true,
                digest: "sha-256=:S+c=:")
            #expect(fields.first { $0.name == "Upload-Checksum" }?.value == "sha256 S+c=")
            _ = exchange.answer(460, isComplete: isComplete)
            #expect(exchange.asked == .ask)
        }
    }
}

extension UploadExchange {
    /// Ends the next request of an upload of 1000 bytes.
    fileprivate mutating func answer(
        _ status: Int?, _ fields: [(String, String)] = [], sent: Int = 0, isComplete: Bool = true,
        size: Int = UploadProofTests.size
    ) -> ExchangeStep {
        follow(status, fields, sent: sent, isComplete: isComplete, size: size)
    }
}
