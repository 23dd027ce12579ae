// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A request and its answer as a file that a person can read, without secrets.
///
/// It is recorded from a real service, or written by hand from a service's documentation, and it is
/// replayed as a server: what a service does can be tried without that service. In place of each
/// secret stands `Cassette.secret`. `docs/cassettes.md` describes the file.
package struct Cassette: Sendable, Equatable {
    static let version = 1
    /// The mark that stands in place of a secret; compared with a request, it matches any text.
    package static let secret = "…"

    package struct Request: Sendable, Equatable {
        package let method: String
        var url: String
        package var headers: [CassetteField] = []
        package var body: Body?
        /// Over a WebSocket, the messages before the audio and behind it.
        package let open, finish: [String]?

        package init(
            method: String = "POST", url: String, open: [String]? = nil, finish: [String]? = nil
        ) {
            (self.method, self.url, self.open, self.finish) = (method, url, open, finish)
        }
    }

    package struct Body: Sendable, Equatable, Codable {
        package let bytes: Int
        /// In hexadecimal; nil when not all of the body was sent.
        package var sha256: String?
        /// Beside this file, with the bytes; nil when they were not asked for.
        package var file: String?
        /// Pairs of milliseconds since the beginning and bytes that the connection had taken.
        package var sent: [[Double]]?

        package init(bytes: Int) { self.bytes = bytes }
    }

    package struct Response: Sendable, Equatable {
        package let status: Int
        /// Without those that frame the body.
        package var headers: [CassetteField] = []
        /// Milliseconds since the beginning; nil: as soon as possible.
        package var ms: Double?
        /// After this many bytes of the request's body; nil: after its end.
        package var after: Int?
        /// In the pieces in which it came, decoded.
        package var body: [CassettePiece] = []

        package init(status: Int) { self.status = status }

        /// The pieces are messages of a WebSocket.
        package var isSocket: Bool { status == 101 }

        var bytes: [UInt8] { body.flatMap(\.bytes) }
    }

    private(set) var version = Cassette.version
    /// For a person.
    package internal(set) var title: String?
    /// The page that describes it; nil for a recorded one.
    var source: String?
    /// ISO 8601, UTC.
    package var recorded: String?
    package var request: Request
    package var response: Response?
    /// A word of the reports, such as `connection-lost`; nil: a good end.
    ///
    /// A replay breaks the connection off unless it is `answered`.
    package var ending: String?

    package init(_ request: Request, _ response: Response? = nil) {
        self.request = request
        self.response = response
    }

    package init(_ bytes: [UInt8]) throws(CassetteError) {
        do {
            self = try JSONDecoder().decode(Cassette.self, from: Data(bytes))
        } catch let error as CassetteError {
            throw error
        } catch {
            throw .unreadable(reason: CassetteError.words(of: error))
        }
    }

    package var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Strings and finite numbers can always be encoded.
        guard let data = try? encoder.encode(self) else { return [] }
        return Array(data) + [0x0A]
    }
}

/// In the file one line: `Content-Type: audio/wav`.
package struct CassetteField: Sendable, Equatable, Codable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    package init(from decoder: any Decoder) throws {
        let line = try decoder.singleValueContainer().decode(String.self)
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
            throw CassetteError.unreadable(reason: "a header has no ':' behind its name")
        }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        self.init(String(line[..<colon]), String(value))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(name): \(value)")
    }

    func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
}

extension [CassetteField] {
    func value(of name: String) -> String? { first { $0.isNamed(name) }?.value }
}

/// Bytes that came together; in the file as text, or else as base64.
package struct CassettePiece: Sendable, Equatable, Codable {
    private enum Key: String, CodingKey { case ms, after, text, base64 }

    package var bytes: [UInt8]
    /// Milliseconds since the beginning; nil: as soon as possible.
    package let ms: Double?
    /// After this many bytes of the request's body; nil: after its end.
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

// Fields of a head are lines, as they are on the wire; a nil member is left out.

extension Cassette: Codable {
    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        version = try object.decode(Int.self, forKey: .version)
        guard version == Cassette.version else { throw CassetteError.otherVersion(version) }
        request = try object.decode(Request.self, forKey: .request)
        response = try object.decodeIfPresent(Response.self, forKey: .response)
        title = try object.decodeIfPresent(String.self, forKey: .title)
        source = try object.decodeIfPresent(String.self, forKey: .source)
        recorded = try object.decodeIfPresent(String.self, forKey: .recorded)
        ending = try object.decodeIfPresent(String.self, forKey: .ending)
    }
}

extension Cassette.Request: Codable {
    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        method = try object.decodeIfPresent(String.self, forKey: .method) ?? "POST"
        url = try object.decode(String.self, forKey: .url)
        headers = try object.decodeIfPresent([CassetteField].self, forKey: .headers) ?? []
        body = try object.decodeIfPresent(Cassette.Body.self, forKey: .body)
        open = try object.decodeIfPresent([String].self, forKey: .open)
        finish = try object.decodeIfPresent([String].self, forKey: .finish)
    }
}

extension Cassette.Response: Codable {
    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        status = try object.decode(Int.self, forKey: .status)
        guard (200...599).contains(status) || status == 101 else {
            throw CassetteError.unreadable(reason: "'status' must be 101, or from 200 to 599")
        }
        headers = try object.decodeIfPresent([CassetteField].self, forKey: .headers) ?? []
        ms = try object.decodeIfPresent(Double.self, forKey: .ms)
        after = try object.decodeIfPresent(Int.self, forKey: .after)
        body = try object.decodeIfPresent([CassettePiece].self, forKey: .body) ?? []
    }
}
