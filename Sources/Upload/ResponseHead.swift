// SPDX-License-Identifier: Apache-2.0

/// Collects the head of the final response from libcurl's header lines.
///
/// Interim responses (1xx) and whatever a proxy said before are forgotten when the next status line
/// comes.
struct ResponseHead {
    /// The most bytes and lines of one head; a longer one is an attack.
    static let byteLimit = 256 << 10
    static let lineLimit = 200
    /// The most interim responses: these, and one for each piece of this many bytes that was sent.
    static let interimLimit = 200
    static let interimPiece = 8 << 10

    private(set) var status: Int?
    /// Over HTTP/2 each stream has an end of its own.
    private(set) var isHTTP2 = false
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var isComplete = false
    private var byteCount = 0
    private var lineCount = 0
    private var interimCount = 0
    /// The request asks for another protocol (RFC 9110 §7.8).
    private let isUpgrade: Bool

    init(isUpgrade: Bool = false) { self.isUpgrade = isUpgrade }

    enum Step: Equatable {
        case goesOn
        /// An interim response is complete; its fields are there until the next status line.
        case interim(status: Int)
        case complete(status: Int)
        case unusable(reason: String)
    }

    /// Notes that a session has begun by a protocol that has no heads.
    mutating func grant() { (status, isComplete) = (101, true) }

    /// `sent` is in bytes of the request's body.
    mutating func accumulate(_ line: String, sent: Int = 0) -> Step {
        if !isComplete, line.hasPrefix("HTTP/") { (byteCount, lineCount) = (0, 0) }
        byteCount += line.utf8.count
        lineCount += 1
        if byteCount > Self.byteLimit || lineCount > Self.lineLimit {
            return .unusable(reason: "the response's head is longer than 256 KiB or 200 lines")
        }
        // Trailers after the body (RFC 9110 §6.5) are not part of the head.
        if isComplete { return .goesOn }
        var text = line[...]
        while text.last?.isWhitespace == true { text.removeLast() }
        if text.hasPrefix("HTTP/") {
            headers = []
            isHTTP2 = text.hasPrefix("HTTP/2")
            status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
            return .goesOn
        }
        if text.isEmpty {
            guard let status, status >= 100 else { return .goesOn }
            // It was not asked for (RFC 9110 §15.2.2).
            if status == 101, !isUpgrade {
                return .unusable(reason: "the service switched to another protocol")
            }
            guard status >= 200 || status == 101 else {
                interimCount += 1
                let most = Self.interimLimit + sent / Self.interimPiece
                return interimCount <= most
                    ? .interim(status: status)
                    : .unusable(reason: "there are more than \(most) interim responses")
            }
            isComplete = true
            return .complete(status: status)
        }
        guard let colon = text.firstIndex(of: ":") else { return .goesOn }
        let value = text[text.index(after: colon)...].drop { $0.isWhitespace }
        headers.append((name: text[..<colon].lowercased(), value: String(value)))
        return .goesOn
    }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
