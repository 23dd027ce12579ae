// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import HTTPTypes

/// The fields of a request's head that concern a resumable upload.
///
/// Two protocols share one resource: "Resumable Uploads for HTTP" of the IETF (interop versions 6 and
/// 8), and tus 1.0, whose requests have `Tus-Resumable`.
struct UploadHead: Sendable, Equatable {
    static let tusVersion = "1.0.0"
    static let root = "/uploads/"

    let isTus: Bool
    /// The interop version that the client names, for interim responses; nil when it names none.
    let version: String?
    /// Whether the body is the rest of the upload; nil when the client does not say so here.
    let completes: Bool?
    let offset: Int?
    let length: Int?
    /// Where the body would end: at the offset and the length of the request together.
    let end: Int?

    init(_ fields: HTTPFields) throws(Refusal) {
        let tus = fields[named: "Tus-Resumable"]
        guard tus == nil || tus == Self.tusVersion else {
            throw Refusal(
                412, "tus \(Self.tusVersion) is spoken here",
                fields: HTTPFields(named: [("Tus-Version", Self.tusVersion)]))
        }
        isTus = tus != nil
        let named = fields[named: "Upload-Draft-Interop-Version"]
        version = isTus ? nil : ["6", "8"].first { $0 == named }
        completes = isTus ? nil : ["?0": false, "?1": true][fields[named: "Upload-Complete"] ?? ""]
        offset = Self.number(fields[named: "Upload-Offset"])
        length = Self.number(fields[named: "Upload-Length"])
        let content = fields[.contentLength].flatMap { Int($0) }
        let start = offset ?? 0
        end = content.flatMap { content in
            let (sum, isTooMuch) = content.addingReportingOverflow(start)
            return isTooMuch ? nil : sum
        }
    }

    /// Whether the request creates an upload; one without these fields is what it always was.
    var creates: Bool { isTus || version != nil && completes != nil }

    /// The length of the whole upload, which all that is said of it must agree with.
    func statedLength(known: Int?) throws(Refusal) -> Int? {
        let stated = [known, length, completes == true ? end : nil].compactMap(\.self)
        guard Set(stated).count <= 1 else { throw .inconsistentLength }
        return stated.first
    }

    /// The media type of the audio that a creating request announces.
    static func mediaType(_ fields: HTTPFields) -> String? {
        guard fields[named: "Tus-Resumable"] != nil else { return fields[.contentType] }
        for pair in (fields[named: "Upload-Metadata"] ?? "").split(separator: ",") {
            let words = pair.split(separator: " ")
            guard words.count == 2, words[0] == "filetype",
                let bytes = Data(base64Encoded: String(words[1]))
            else { continue }
            return String(decoding: bytes, as: UTF8.self)
        }
        // This one is of the protocol, not of the audio.
        return fields[.contentType].flatMap { $0 == "application/offset+octet-stream" ? nil : $0 }
    }

    static func options(_ configuration: RecognitionEndpointConfiguration) -> HTTPResponse {
        let limit = configuration.maximumBodyByteCount
        let age = configuration.uploadLifetime.components.seconds
        return HTTPResponse(
            status: .noContent,
            headerFields: HTTPFields(named: [
                ("Upload-Limit", "max-size=\(limit), max-age=\(age)"),
                ("Tus-Resumable", tusVersion), ("Tus-Version", tusVersion),
                (
                    "Tus-Extension",
                    "creation,creation-defer-length,creation-with-upload,expiration,termination"
                ),
                ("Tus-Max-Size", "\(limit)"),
            ]))
    }

    /// A moment in seconds since 1970 as in `Date` (RFC 9110 §5.6.7).
    static func date(_ seconds: Int) -> String {
        var moment = time_t(seconds)
        var parts = unsafe tm()
        guard unsafe gmtime_r(&moment, &parts) != nil else { return "" }
        var text = [CChar](repeating: 0, count: 64)
        let form = "%a, %d %b %Y %H:%M:%S GMT"
        let count = unsafe strftime(&text, text.count, form, &parts)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// A non-negative integer of at most 15 digits (RFC 9651 §3.3.1); other values are ignored.
    private static func number(_ text: String?) -> Int? {
        guard let text, text.utf8.count <= 15, text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(text)
    }
}

extension HTTPFields {
    init(named fields: [(String, String)]) {
        self.init()
        for (name, value) in fields { self[named: name] = value }
    }

    subscript(named name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set { if let name = HTTPField.Name(name) { self[name] = newValue } }
    }
}

extension Refusal {
    private static let problems = "https://iana.org/assignments/http-problem-types#"

    static let noUpload = Refusal(404, "there is no such upload, or it has expired")

    static let inconsistentLength = Refusal(
        400, "the lengths that are given for the upload differ",
        fields: HTTPFields(named: [("Upload-Complete", "?0")]),
        problem: "{\"type\":\"\(problems)inconsistent-upload-length\","
            + "\"title\":\"the lengths that are given for the upload differ\"}\n")

    static func otherOffset(_ expected: Int, provided: Int) -> Refusal {
        Refusal(
            409, "the upload continues at byte \(expected), not at \(provided)",
            fields: HTTPFields(named: [
                ("Upload-Offset", "\(expected)"), ("Upload-Complete", "?0"),
            ]),
            problem: "{\"type\":\"\(problems)mismatching-upload-offset\","
                + "\"title\":\"the upload continues at another byte\","
                + "\"expected-offset\":\(expected),\"provided-offset\":\(provided)}\n")
    }
}
