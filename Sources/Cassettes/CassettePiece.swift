// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Bytes of an answer that came together: text where they are text, otherwise base64.
package struct CassettePiece: Sendable, Equatable, Codable {
    private enum Key: String, CodingKey { case ms, after, text, base64 }

    /// The bytes, decoded of chunks and compression.
    package var bytes: [UInt8]
    /// When they came, in milliseconds since the beginning; nil is as soon as they may.
    package var ms: Double?
    /// After how many bytes of the request's body they came; nil is after its end.
    package var after: Int?

    package init(_ bytes: [UInt8], ms: Double? = nil, after: Int? = nil) {
        self.bytes = bytes
        self.ms = ms
        self.after = after
    }

    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        ms = try object.decodeIfPresent(Double.self, forKey: .ms)
        after = try object.decodeIfPresent(Int.self, forKey: .after)
        if let text = try object.decodeIfPresent(String.self, forKey: .text) {
            bytes = Array(text.utf8)
        } else if let data = Data(
            base64Encoded: try object.decode(String.self, forKey: .base64))
        {
            bytes = Array(data)
        } else {
            throw CassetteError.unreadable(reason: "'base64' is not base64")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encodeIfPresent(ms, forKey: .ms)
        try object.encodeIfPresent(after, forKey: .after)
        if let text = String(validating: bytes, as: UTF8.self) {
            try object.encode(text, forKey: .text)
        } else {
            try object.encode(Data(bytes).base64EncodedString(), forKey: .base64)
        }
    }
}
