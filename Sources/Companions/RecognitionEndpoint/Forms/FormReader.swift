// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore

/// Takes a form apart while it comes (RFC 7578), and passes the bytes of its file on.
///
/// It keeps the text fields that say which answer is wanted, and what helps to recognise. The bytes may
/// be cut anywhere. Used on one thread.
struct FormReader {
    private enum Place {
        /// Before the first boundary, or in a field of text.
        case skipping
        case boundary
        /// In a field of text that is kept.
        case text(String)
        case head
        case file
        case end
    }

    private static let headLimit = 16 << 10

    private let delimiter: [UInt8]
    /// Bytes that cannot be judged yet; the line break before the first boundary is ours.
    private var pending = Array("\r\n".utf8)
    private var place = Place.skipping

    private(set) var file: FormPartHead?
    /// The text fields that matter, each up to its longest.
    private(set) var texts: [String: String] = [:]
    private static let longestTexts = [
        "response_format": 32, "stream": 32, "language": 32, "prompt": 4_096,
    ]

    init(boundary: String) { delimiter = Array("\r\n--\(boundary)".utf8) }

    var isWhole: Bool { if case .end = place { true } else { false } }

    mutating func read(_ bytes: Span<UInt8>, into audio: inout [UInt8]) throws(UndecodableAudio) {
        for index in bytes.indices { pending.append(bytes[index]) }
        while try step(into: &audio) {}
    }

    /// Goes on to the next place; false when more bytes are needed.
    private mutating func step(into audio: inout [UInt8]) throws(UndecodableAudio) -> Bool {
        switch place {
        case .skipping, .file, .text:
            let end = pending.firstRange(of: delimiter)
            // A text is read as a whole, since a character may be cut.
            if case .text = place, end == nil, pending.count <= Self.headLimit { return false }
            // The beginning of a boundary may be at the end of what is there.
            let count = end?.lowerBound ?? max(0, pending.count - delimiter.count + 1)
            if case .file = place { audio += pending[..<count] }
            if case .text(let name) = place {
                let text = (texts[name] ?? "") + String(decoding: pending[..<count], as: UTF8.self)
                texts[name] = String(text.prefix(Self.longestTexts[name] ?? 0))
            }
            pending.removeFirst(end?.upperBound ?? count)
            if end != nil { place = .boundary }
            return end != nil
        case .boundary:
            guard pending.count >= 2 else { return false }
            guard pending.starts(with: "--".utf8) else {
                guard let line = pending.firstRange(of: Array("\r\n".utf8)) else {
                    return try bounded()
                }
                // The head's first field may be missing: its line break is then the blank line's.
                pending.removeFirst(line.lowerBound)
                place = .head
                return true
            }
            place = .end
            return true
        case .head:
            guard let blank = pending.firstRange(of: Array("\r\n\r\n".utf8)) else {
                return try bounded()
            }
            let head = FormPartHead(String(decoding: pending[..<blank.lowerBound], as: UTF8.self))
            pending.removeFirst(blank.upperBound)
            try begin(head)
            return true
        case .end:
            pending.removeAll()
            return false
        }
    }

    private mutating func begin(_ head: FormPartHead) throws(UndecodableAudio) {
        guard head.name == "file" || head.fileName != nil else {
            return place = Self.longestTexts[head.name] != nil ? .text(head.name) : .skipping
        }
        guard file == nil else { throw UndecodableAudio("the form has two files") }
        file = head
        place = .file
    }

    private func bounded() throws(UndecodableAudio) -> Bool {
        guard pending.count <= Self.headLimit else {
            throw UndecodableAudio("the form has a part whose head is too long")
        }
        return false
    }
}

/// The header fields of one part of a form, as far as they matter (RFC 7578 §4).
struct FormPartHead: Sendable, Equatable {
    private(set) var name = ""
    private(set) var fileName: String?
    private(set) var contentType: String?

    init(_ text: String) {
        for line in text.split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            switch line[..<colon].lowercased() {
            case "content-disposition":
                name = Self.parameter("name", in: value) ?? ""
                fileName = Self.parameter("filename", in: value)
            case "content-type": contentType = String(value)
            default: break
            }
        }
    }

    /// The part's kind of audio: by the extension of the file's name, as services of this kind do,
    /// or else by its type.
    var mediaType: AudioMediaType {
        get throws(UndecodableAudio) {
            if let codec = fileName.flatMap({ AudioCodec(fileName: $0) }) { return .file(codec) }
            return try AudioMediaType(parsing: contentType)
        }
    }

    /// The parameter of a header field such as `name="a b"`; nil without one.
    static func parameter(_ name: String, in value: some StringProtocol) -> String? {
        for part in value.split(separator: ";").dropFirst() {
            let part = part.drop { $0 == " " || $0 == "\t" }
            guard part.lowercased().hasPrefix(name + "=") else { continue }
            let text = part.dropFirst(name.count + 1)
            guard text.hasPrefix("\""), text.hasSuffix("\""), text.count > 1 else {
                return String(text)
            }
            return String(text.dropFirst().dropLast())
        }
        return nil
    }
}

final class FormDecoder: OuterDecoder {
    private var reader: FormReader
    private(set) var decoder: (any AudioDecoder)?
    private let means: DecodingMeans

    init(boundary: String, by means: DecodingMeans) {
        reader = FormReader(boundary: boundary)
        self.means = means
    }

    var isAtEnd: Bool { reader.isWhole && decoder?.isAtEnd ?? true }

    var wantedFormat: String? { reader.texts["response_format"] }

    var isStreamed: Bool { ["true", "1"].contains(reader.texts["stream"]?.lowercased()) }

    var hints: SpeechHints {
        SpeechHints(language: reader.texts["language"], prompt: reader.texts["prompt"])
    }

    func decode(_ bytes: Span<UInt8>, into output: inout [Int16]) throws(UndecodableAudio) {
        var audio: [UInt8] = []
        try reader.read(bytes, into: &audio)
        if decoder == nil { decoder = try reader.file?.mediaType.makeDecoder(by: means) }
        try decoder?.decode(audio.span, into: &output)
    }

    func finish(into output: inout [Int16]) throws(UndecodableAudio) {
        guard reader.isWhole else { throw UndecodableAudio("the form has no end") }
        guard let decoder else { throw UndecodableAudio("the form has no file") }
        guard wantedFormat.map({ AnswerFormat.documents[$0] != nil }) ?? true else {
            throw UndecodableAudio("the 'response_format' is json, verbose_json, text, srt or vtt")
        }
        guard ["true", "1", "false", "0", nil].contains(reader.texts["stream"]?.lowercased()) else {
            throw UndecodableAudio("the 'stream' is true or false")
        }
        try decoder.finish(into: &output)
    }
}
