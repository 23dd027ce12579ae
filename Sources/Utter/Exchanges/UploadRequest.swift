// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import SpeechService
internal import Upload

/// A request of an upload: which bytes of the body it sends, and what it says of them.
struct UploadRequest: Sendable, Equatable {
    enum Step: Sendable {
        /// Asks which extensions the service offers (tus, OPTIONS).
        case discover
        /// Makes the upload, with the recording from its first byte on.
        case create
        case createEmpty
        /// How many bytes the service has.
        case ask
        /// The recording from there on.
        case append
    }

    let kind: UploadProtocol
    var step: Step
    /// In bytes of the whole body.
    var start: Int
    /// The most bytes that the request may have.
    var limit: Int?
    /// In place of the upload's own URL, which is a secret.
    var shownURL: ServiceURL?
    /// The service does not know the length of the whole body.
    var saysLength = true
    /// The service is told the SHA-256 of what the request sends (tus, checksum).
    var saysChecksum = false
    /// The body's first bytes say how long the recording is, where its format has a place for that.
    var isOfWhole = false

    func range(of whole: RequestBody) -> RequestBody {
        var body = whole
        if step == .append { (body.start, body.limit) = (start, limit) }
        return body
    }

    /// The type of the body; nil: the recording's own.
    var contentType: String? {
        switch (step, kind) {
        case (.create, _): nil
        case (.createEmpty, .resumable): nil
        case (.createEmpty, .tus), (.ask, _), (.discover, _): ""
        case (.append, .resumable): "application/partial-upload"
        case (.append, .tus): "application/offset+octet-stream"
        }
    }

    /// The fields of the protocol, for a recording's body of a type; its length is said when it was
    /// known as the request was decided on.
    func fields(
        of whole: RequestBody, mediaType: String, name: String, isComplete: Bool,
        digest: String? = nil
    ) -> [(name: String, value: String)] {
        let end = isComplete ? whole.wholeByteCount : nil
        let length = end.map { "\($0)" }
        let fields: KeyValuePairs<String, String?>
        switch (kind, step) {
        case (_, .discover): fields = [:]
        case (.resumable, .ask): fields = [UploadAnswer.version: UploadAnswer.versionNumber]
        case (.resumable, _):
            let isLast = step != .createEmpty && reaches(end)
            fields = [
                UploadAnswer.version: UploadAnswer.versionNumber,
                "Upload-Offset": step == .append ? "\(start)" : nil,
                "Upload-Complete": isLast ? "?1" : "?0", "Upload-Length": length,
            ]
        case (.tus, .ask): fields = ["Tus-Resumable": "1.0.0"]
        case (.tus, .create), (.tus, .createEmpty):
            let type = Data(mediaType.utf8).base64EncodedString()
            let name = Data(name.utf8).base64EncodedString()
            fields = [
                "Tus-Resumable": "1.0.0", "Upload-Length": length,
                "Upload-Defer-Length": length == nil ? "1" : nil,
                "Upload-Metadata": "filename \(name),filetype \(type)",
            ]
        case (.tus, .append):
            // `Content-Digest` has the same in its own form: sha-256=:…:
            let checksum = digest?.drop { $0 != ":" }.filter { $0 != ":" }
            fields = [
                "Tus-Resumable": "1.0.0", "Upload-Offset": "\(start)",
                "Upload-Checksum": checksum.map { "sha256 \($0)" },
                "Upload-Length": saysLength ? length : nil,
            ]
        }
        return fields.compactMap { name, value in value.map { (name: name, value: $0) } }
    }

    private func reaches(_ end: Int?) -> Bool {
        limit.map { limit in end.map { $0 - start <= limit } ?? false } ?? true
    }
}

/// The head of an answer about an upload (the draft's §4, tus 1.0).
enum UploadAnswer {
    static let version = "Upload-Draft-Interop-Version"
    static let versionNumber = "8"

    /// Whether an interim answer is of the version that we speak: another one is to be ignored.
    static func isOurs(_ head: AnswerHead) -> Bool {
        head.header("upload-draft-interop-version") == versionNumber
    }

    static func offset(in head: AnswerHead) -> Int? {
        head.header("upload-offset").flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    static func isIncomplete(_ head: AnswerHead) -> Bool { head.header("upload-complete") == "?0" }

    static func isComplete(_ head: AnswerHead) -> Bool { head.header("upload-complete") == "?1" }

    /// The length of the whole body; nil while the service does not know it.
    static func length(in head: AnswerHead) -> Int? {
        head.header("upload-length").flatMap { Int($0) }
    }

    /// The most bytes of a request.
    static func limit(in head: AnswerHead) -> Int? { limit("max-append-size", in: head) }

    static func offersChecksum(_ head: AnswerHead) -> Bool {
        head.header("tus-checksum-algorithm")?.contains("sha256") ?? false
    }

    /// The most bytes of a whole upload.
    static func largest(in head: AnswerHead) -> Int? {
        head.header("tus-max-size").flatMap { Int($0) } ?? limit("max-size", in: head)
    }

    private static func limit(_ name: String, in head: AnswerHead) -> Int? {
        let text = head.header("upload-limit")?.filter { !$0.isWhitespace } ?? ""
        let member = text.split(separator: ",").first { $0.hasPrefix("\(name)=") }
        let count = (member?.dropFirst(name.count + 1).prefix { $0 != ";" }).flatMap { Int($0) }
        return count.flatMap { $0 > 0 ? $0 : nil }
    }
}
