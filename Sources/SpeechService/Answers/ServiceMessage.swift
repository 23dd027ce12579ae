// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

package enum ServiceMessage {
    /// The first that holds a string counts.
    private static let paths = [JSONPath](
        dotted: "error.message", "error", "detail.0.msg", "detail", "detail.message", "message",
        "err_msg", "error_message", "ErrorMessage", "title")

    private static let codePaths = [JSONPath](
        dotted: "error.code", "code", "error_code", "err_code", "err_no", "detail.status")

    /// JSON is searched at `places`, and where services put it; of anything else, which may be cut,
    /// the first line of text without HTML tags is taken.
    ///
    /// - Returns: one line of at most 200 bytes, harmless to a terminal; nil when the body says
    ///   nothing that can be read.
    package static func extract(
        from body: [UInt8], contentType: String? = nil, at places: ErrorPlaces = ErrorPlaces()
    ) -> String? {
        guard !MediaType(contentType).isBinary else { return nil }
        let body = Charset.utf8(body, of: contentType)
        // A failed parse is not a failure here: the text itself is the next best message.
        if let value = try? JSONParser.parse(body), let message = extract(from: value, at: places) {
            return message
        }
        if let text = XMLElement.texts(of: "Message", in: body).first, let message = shown(text) {
            return message
        }
        let text = String(decoding: body.withoutByteOrderMark.prefix(1 << 16), as: UTF8.self)
        guard !text.unicodeScalars.contains("\0") else { return nil }
        return WebPage.firstLine(of: text)
    }

    static func extract(
        from value: JSONValue, at places: ErrorPlaces = ErrorPlaces()
    ) -> String? {
        if let text = value.string { return shown(text) }
        let said = places.messages.lazy.compactMap { $0.text(in: value).flatMap(shown) }.first
        if let said { return said }
        if let fields = fieldErrors(in: value) { return shown(fields) }
        return paths.lazy.compactMap { $0.values(in: value).first?.string.flatMap(shown) }.first
    }

    package static func code(in body: [UInt8], at places: ErrorPlaces) -> String? {
        // An answer that is neither JSON nor XML has no code.
        guard let value = try? JSONParser.parse(body) else {
            return XMLElement.texts(of: "Code", in: body).first
        }
        return code(in: value, at: places)
    }

    static func code(in value: JSONValue, at places: ErrorPlaces) -> String? {
        (places.codes + codePaths).label(in: value)
    }

    /// FastAPI and its like: what is wrong, and with which field of the request.
    private static func fieldErrors(in value: JSONValue) -> String? {
        guard let errors = value["detail"]?.elements else { return nil }
        let texts = errors.prefix(3).compactMap { error -> String? in
            guard let message = error["msg"]?.string, !message.isEmpty else { return nil }
            guard let place = error["loc"]?.elements else { return message }
            let names = place.compactMap { part in
                part.string ?? part.number.map { "\(Int(exactly: $0) ?? 0)" }
            }
            return names.isEmpty ? message : "\(message): \(names.joined(separator: "."))"
        }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    private static func shown(_ text: String) -> String? {
        let line = TerminalText.shown(text)
        return line.isEmpty ? nil : line
    }
}

extension AnswerHead {
    /// Whether it says that the body is a web page.
    package var isWebPage: Bool { MediaType(mediaType).isWebPage }
}

/// Recognises HTML where text was expected and finds the line that a person would read first.
enum WebPage {
    private static let byteLimit = 16_384

    /// A transcript may begin with a tag as well, such as `<unk>` or `<i>`: these are of pages alone.
    private static let tags = [
        "!doctype", "?xml", "html", "head", "body", "meta", "script", "title", "style", "center",
        "h1", "h2", "!--",
    ]

    static func isWebPage(_ text: String) -> Bool {
        let start = text.drop { $0.isWhitespace }.prefix(9).lowercased()
        return tags.contains { start.hasPrefix("<\($0)") }
    }

    /// The title of a web page, or the first line with words of any other text; nil without any.
    ///
    /// The result is harmless to a terminal and at most 200 bytes.
    static func firstLine(of text: String) -> String? {
        let start = String(decoding: text.utf8.prefix(byteLimit), as: UTF8.self)
        let lines =
            isWebPage(start)
            ? start.split(separator: "<").filter { $0.prefix(5).lowercased() == "title" }
                .map { $0.drop { $0 != ">" }.dropFirst() }
            : start.split(whereSeparator: \.isNewline)
        for line in lines {
            let words = TerminalText.singleLine(TerminalText.sanitized(String(line)))
            if !words.isEmpty { return TerminalText.cut(words) }
        }
        return nil
    }
}
