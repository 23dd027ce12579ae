// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// One request and its answer as a file that a person can read, without secrets.
///
/// It is recorded from a real service, or written by hand from a service's documentation, and it is
/// replayed as a server: what a service does can be tried without that service. In place of each
/// secret stands `Cassette.secret`. `docs/cassettes.md` describes the file.
package struct Cassette: Sendable, Equatable {
    /// The version of the format that this program reads and writes.
    package static let version = 1
    /// What stands in place of a secret; compared with a request, it is any text.
    package static let secret = "…"

    /// What was sent.
    package struct Request: Sendable, Equatable {
        package var method: String
        /// The whole URL, with the query.
        package var url: String
        /// The fields of the head.
        package var headers: [CassetteField] = []
        /// The body; nil without one.
        package var body: Body?

        package init(method: String = "POST", url: String) {
            self.method = method
            self.url = url
        }
    }

    /// The body of a request: how it went, and a digest instead of the bytes.
    package struct Body: Sendable, Equatable, Codable {
        /// Its length.
        package var bytes: Int
        /// Its SHA-256, in hexadecimal; nil when not all of it was sent.
        package var sha256: String?
        /// The file beside this one that holds the bytes; nil when they were not asked for.
        package var file: String?
        /// When the connection had taken how much: pairs of milliseconds since the beginning and
        /// bytes.
        package var sent: [[Double]]?

        package init(bytes: Int) { self.bytes = bytes }
    }

    /// What came back.
    package struct Response: Sendable, Equatable {
        package var status: Int
        /// The fields of the head, without those that frame the body.
        package var headers: [CassetteField] = []
        /// When the head came, in milliseconds since the beginning; nil is as soon as it may.
        package var ms: Double?
        /// After how many bytes of the request's body it came; nil is after its end.
        package var after: Int?
        /// The body in the pieces in which it came, decoded.
        package var body: [CassettePiece] = []

        package init(status: Int) { self.status = status }

        package var bytes: [UInt8] { body.flatMap(\.bytes) }
    }

    /// What the file is about; for a person.
    package var title: String?
    /// Where it is from: the page from which it was written; nil for one that was recorded.
    package var source: String?
    /// When it was recorded, in ISO 8601, UTC.
    package var recorded: String?
    /// What was sent.
    package var request: Request
    /// What came back; nil is nothing.
    package var response: Response?
    /// How the exchange ended, in a word of the reports, such as `connection-lost`; nil is as it
    /// should.
    ///
    /// A replay breaks the connection off where it says anything else than `answered`.
    package var ending: String?

    package init(_ request: Request, _ response: Response? = nil) {
        self.request = request
        self.response = response
    }

    /// Reads a file's bytes.
    ///
    /// - Throws: `CassetteError.unreadable` when they are no cassette of this version.
    package init(_ bytes: [UInt8]) throws(CassetteError) {
        do {
            self = try JSONDecoder().decode(Cassette.self, from: Data(bytes))
        } catch let error as CassetteError {
            throw error
        } catch {
            throw .unreadable(reason: CassetteError.words(of: error))
        }
    }

    /// The bytes of the file, ending with a line break.
    package var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Strings and finite numbers can always be encoded.
        guard let data = try? encoder.encode(self) else { return [] }
        return Array(data) + [0x0A]
    }
}
