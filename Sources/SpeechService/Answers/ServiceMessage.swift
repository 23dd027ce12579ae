// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

package enum ServiceMessage {
    /// The first that holds a string counts.
    private static let paths = [
        JSONPath(names: "error", "message"),
        JSONPath(names: "error"),
        JSONPath(names: "detail").element(0).member("msg"),
        JSONPath(names: "detail"),
        JSONPath(names: "detail", "message"),
        JSONPath(names: "message"),
        JSONPath(names: "err_msg"),
        JSONPath(names: "error_message"),
        JSONPath(names: "ErrorMessage"),
        JSONPath(names: "title"),
    ]

    private static let codePaths = [
        JSONPath(names: "error", "code"),
        JSONPath(names: "code"),
        JSONPath(names: "error_code"),
        JSONPath(names: "err_code"),
        JSONPath(names: "err_no"),
        JSONPath(names: "detail", "status"),
    ]

    /// The message in the body of an error answer.
    ///
    /// JSON is searched at the places where services put it; of anything else, the first line of
    /// text without HTML tags is taken.
    ///
    /// - Parameters:
    ///   - body: the body as far as it was read; may be cut.
    ///   - contentType: the value of the `Content-Type` field, or nil.
    ///   - places: where this service puts it, before the others.
    /// - Returns: one line of at most 200 bytes, harmless to a terminal; nil when the body says
    ///   nothing that can be read.
    package static func extract(
        from body: [UInt8], contentType: String? = nil, at places: ErrorPlaces = ErrorPlaces()
    ) -> String? {
        let type = MediaType(contentType)
        guard !type.isBinary else { return nil }
        // A failed parse is not a failure here: the text itself is the next best message.
        if let value = try? JSONParser.parse(body), let message = extract(from: value, at: places) {
            return message
        }
        let head = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
        if let text = XMLElement.texts(of: "Message", in: body).first, let message = shown(text) {
            return message
        }
        let text = String(decoding: head.prefix(1 << 16), as: UTF8.self)
        guard !text.unicodeScalars.contains("\0") else { return nil }
        return WebPage.firstLine(of: text)
    }

    static func extract(
        from value: JSONValue, at places: ErrorPlaces = ErrorPlaces()
    ) -> String? {
        if let text = value.string { return shown(text) }
        for path in places.messages {
            if let text = path.text(in: value), let message = shown(text) { return message }
        }
        if let fields = fieldErrors(in: value) { return shown(fields) }
        for path in paths {
            if let text = path.values(in: value).first?.string, let message = shown(text) {
                return message
            }
        }
        return nil
    }

    /// Nil when the body has no code.
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
        guard case .array(let errors)? = value["detail"] else { return nil }
        let texts = errors.prefix(3).compactMap { error -> String? in
            guard let message = error["msg"]?.string, !message.isEmpty else { return nil }
            guard case .array(let place)? = error["loc"] else { return message }
            let names = place.compactMap { part in
                part.string ?? part.number.map { "\(Int(exactly: $0) ?? 0)" }
            }
            return names.isEmpty ? message : "\(message): \(names.joined(separator: "."))"
        }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    private static func shown(_ text: String) -> String? {
        let line = TerminalText.cut(TerminalText.singleLine(TerminalText.sanitized(text)))
        return line.isEmpty ? nil : line
    }
}

/// Recognises HTML where text was expected and finds the line that a person would read first.
enum WebPage {
    /// A longer text is only looked at up to here.
    private static let byteLimit = 16_384

    static func isWebPage(_ text: String) -> Bool {
        let start = text.drop { $0.isWhitespace }.prefix(9).lowercased()
        return ["<!doctype", "<html", "<head", "<body", "<?xml"].contains { start.hasPrefix($0) }
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
