// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A form as another program reads it: Python's parser of MIME messages.
package struct ForeignForm: Sendable {
    package struct Part: Sendable, Decodable {
        /// The name, as it stands between the quotation marks.
        package var name: String?
        /// The file name, as it stands there; nil for a field of text.
        package var fileName: String?
        /// The part's `Content-Type`; nil without one.
        package var contentType: String?
        package var fields: [String]
        package var bytes: [UInt8] { Array(content) }
        private var content: Data
    }

    package var parts: [Part]

    /// Complains of whatever is no clean form: text before or behind it, and what the parser calls a
    /// defect.
    private static let script = """
        import base64, email, email.policy, json, sys
        form = email.message_from_bytes(
            b"MIME-Version: 1.0\\r\\n" + sys.stdin.buffer.read(), policy=email.policy.HTTP)
        if form.get_content_type() != "multipart/form-data" or not form.is_multipart():
            sys.exit("no form: " + form.get_content_type())
        if form.preamble or form.epilogue:
            sys.exit("text around it: %r %r" % (form.preamble, form.epilogue))
        parts = []
        for part in form.iter_parts():
            if form.defects or part.defects:
                sys.exit("defects: %r %r" % (form.defects, part.defects))
            if part.get_content_disposition() != "form-data":
                sys.exit("disposition: %r" % part.get_content_disposition())
            parts.append({
                "name": part.get_param("name", header="content-disposition"),
                "fileName": part.get_filename(),
                "contentType": dict(part.raw_items()).get("Content-Type"),
                "fields": part.keys(),
                "content": base64.b64encode(part.get_payload(decode=True)).decode()})
        print(json.dumps(parts))
        """

    /// Reads a whole form, or throws the parser's complaint.
    package init(_ body: [UInt8], contentType: String) throws {
        let input = Array("Content-Type: \(contentType)\r\n\r\n".utf8) + body
        let output = try ForeignTool("python3").run(["-c", Self.script], input: input).output
        parts = try JSONDecoder().decode([Part].self, from: Data(output))
    }
}

extension [ServerStep] {
    /// A service in the style of OpenAI's that says what it has understood of a form.
    package static let transcriber: [ServerStep] = [
        .readHead, .readBodyToEnd,
        .respondBy { request in
            do {
                let form = try ForeignForm(
                    request.body, contentType: request["Content-Type"] ?? "")
                let text = form.parts.map { part in
                    part.fileName.map { "\(part.name ?? "")=@\($0):\(part.bytes.count)" }
                        ?? "\(part.name ?? "")=\(String(decoding: part.bytes, as: UTF8.self))"
                }
                return ServerAnswer(
                    headers: [HeaderField("Content-Type", "application/json")],
                    text: "{\"text\":\"\(text.joined(separator: " "))\"}")
            } catch {
                return ServerAnswer(status: 400, text: "\(error)")
            }
        },
    ]
}
