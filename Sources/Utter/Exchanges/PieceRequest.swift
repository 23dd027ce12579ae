// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import Upload

struct PieceRequest: Sendable, Equatable {
    var step: JobStep
    /// In bytes of the body; of a request with the recording.
    var start = 0
    var end: Int?
    /// From 1; 0 for the whole.
    var number = 0
    /// It has the type of the recording, which it does not hold.
    var saysType = false

    func range(of whole: RequestBody) -> RequestBody {
        var body = whole
        (body.start, body.limit) = (start, end.map { $0 - start })
        return body
    }
}

extension PartsPlan {
    func step(of job: PartsTable.Job) -> JobStep? {
        switch job {
        case .whole: whole
        case .folder: folder
        case .find: list
        case .create: create
        case .part: part
        case .complete: complete
        case .look: look
        case .abort: abort
        }
    }
}

extension JobStep {
    /// The request of this step, without secrets; which bytes of the recording is not said here.
    func request(
        _ headers: [HeaderField], by values: [String: String], for use: StepRequest.Use
    ) -> StepRequest {
        var request = StepRequest(method: method, headers: headers, use: use)
        if content != .recording {
            let text = text(by: values).map { StepRequest.Content(text: $0) }
            request.content = text ?? StepRequest.Content(json(by: values))
        }
        return request
    }

    func request(
        for job: PartsTable.Job, _ plan: PartsPlan, _ table: PartsTable,
        of recording: RecordingExtent, by delivery: DeliveryPlan
    ) -> (url: ServiceURL, step: StepRequest) {
        let service = delivery.service
        var values = service.words.merging(table.captured) { _, captured in captured }
        values["digest"] = recording.digest ?? ""
        var piece = PieceRequest(step: self)
        switch job {
        case .whole: piece.end = recording.byteCount
        case .folder(let index): values["folder"] = service.url.folders[index]
        case .part(let index):
            // A part of an upload that is forgotten is sent no more.
            let range = table.parts.indices.contains(index) ? table.parts[index].range : 0..<0
            (piece.start, piece.end, piece.number) = (range.lowerBound, range.upperBound, index + 1)
            values["number"] = "\(index + 1)"
        case .complete: values["parts"] = plan.list(of: table.tags)
        case .create: piece.saysType = true
        case .find:
            let (root, key) = service.storeRoot ?? (service.url, "")
            (values["root"], values["prefix"]) = (root.text, key)
        case .look, .abort: break
        }
        // Fields and URLs that what was captured makes no sense of are the profile's own.
        let fields = (try? fields(by: values)) ?? []
        // The same.
        let url = (try? target(from: service.url, by: values)) ?? service.url
        return (url, request(fields, by: values, for: .piece(piece)))
    }
}

extension Int {
    /// A status that another time may be another (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4).
    var isPassing: Bool { [408, 423, 425, 429].contains(self) }

    /// An answer to the making of a folder, which is there then or is not for us.
    var settlesFolder: Bool { self < 500 && self / 100 != 3 && !isPassing }
}

extension DeliveryPlan {
    /// Judges the requests of one lane.
    func makePartsEngine(_ plan: PartsPlan) -> PostOnce {
        var engine = PostOnce(
            url: service.url, allowed: redirectOrigins, policy: retry, rule: service.retry,
            framing: .length, redact: { [service] in service.redacted($0) })
        // A part may be sent twice; before the end is asked for twice, it is looked up.
        engine.knowsOutcome = plan.part != nil || plan.look != nil
        return engine
    }
}

extension ServiceURL {
    /// The folders in which it lies, from the outermost on, without the root of its server.
    var folders: [String] {
        let names = target.prefix { $0 != "?" }.split(separator: "/").dropLast()
        return names.indices.map { "\(origin)/\(names[...$0].joined(separator: "/"))/" }
    }
}

/// The tags that a store gives to what it has, such as an ETag (RFC 9110 §8.8.3).
enum StoreTag {
    private static let ofNothing = "d41d8cd98f00b204e9800998ecf8427e"

    /// Whether a store that has `count` bytes of a body can answer with these values.
    ///
    /// A store that has dropped the body may answer with a tag that is empty, zero or the MD5 of no bytes.
    static func areProof(_ captured: [String: String], ofByteCount count: Int) -> Bool {
        count == 0
            || captured.values.allSatisfy { value in
                let tag = value.trimmingPrefix("W/").filter { $0 != "\"" }
                // The number of parts may stand behind an MD5.
                let digest = tag.dropFirst(32).first == "-" ? tag.prefix(32) : tag[...]
                let isZero = digest.count >= 32 && digest.allSatisfy { $0 == "0" }
                return !tag.isEmpty && !isZero && digest.lowercased() != ofNothing
            }
    }
}

extension RecordingExtent {
    func isProved(by captured: [String: String]) -> Bool {
        !captured.isEmpty && StoreTag.areProof(captured, ofByteCount: byteCount)
    }

    /// Why what a store has is not this recording, by what it says; nil when it is.
    ///
    /// Without a take's name there it must have been sent, or be the only one with that URL.
    func failure(of values: [String: String], isSent: Bool) -> TakeFailure? {
        let isOurs = values["take"].map { $0 == TakeMark.text } ?? isSent
        guard isOurs, values["digest"].map({ $0 == digest ?? $0 }) ?? true else {
            return .anotherObject()
        }
        guard let size = values["size"], size != "\(byteCount)" else { return nil }
        return .anotherObject("\(size) of \(byteCount) bytes are there under that name")
    }
}

extension TakeFailure {
    static func anotherObject(
        _ message: String = "another object of that name is there"
    ) -> TakeFailure {
        .refused(status: 412, message: message, advice: nil)
    }
}
