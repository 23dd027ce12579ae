// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import LinuxPlatform
internal import SpeechService

/// Asks a server to speak WebSocket on a connection (RFC 6455 §4.1).
struct SocketHandshake {
    /// The request: its line and fields.
    let head: String
    private let key: String

    /// `key` is 16 random bytes in base64.
    init(
        to url: ServiceURL, _ headers: [(name: String, value: String)],
        key: String = Self.randomKey()
    ) {
        self.key = key
        let own = [
            ("Host", url.origin.name), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", key), ("Sec-WebSocket-Version", "13"),
        ]
        let lines = (own + headers).map { "\($0.0): \($0.1)\r\n" }.joined()
        head = "GET \(url.target) HTTP/1.1\r\n\(lines)\r\n"
    }

    private static func randomKey() -> String {
        String(
            decoding: Base64.encoded((0..<16).map { _ in UInt8.random(in: .min ... .max) }),
            as: UTF8.self)
    }

    /// Why the answer with status 101 does not open this WebSocket; nil when it does.
    func flaw(in headers: [(name: String, value: String)]) -> String? {
        func values(_ name: String) -> [String] {
            headers.filter { $0.name == name }.flatMap { $0.value.split(separator: ",") }.map {
                $0.lowercased().filter { !$0.isWhitespace }
            }
        }
        guard values("upgrade") == ["websocket"], values("connection").contains("upgrade") else {
            return "the service switched to another protocol"
        }
        let accept = headers.filter { $0.name == "sec-websocket-accept" }.map(\.value)
        guard accept == [Self.accept(of: key)] else {
            return "the answer to the upgrade is that to another one"
        }
        // Nothing of that was asked for.
        let others = ["sec-websocket-extensions", "sec-websocket-protocol"]
        if let other = headers.first(where: { others.contains($0.name) && !$0.value.isEmpty }) {
            return "the service wants '\(other.name)', for which utter has not asked"
        }
        return nil
    }

    static func accept(of key: String) -> String {
        let digest = SHA1.digest(Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        return String(decoding: Base64.encoded(digest), as: UTF8.self)
    }
}
