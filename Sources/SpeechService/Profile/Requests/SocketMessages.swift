// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Settings

/// The messages with which a recording travels over a WebSocket (RFC 6455), as a profile says them; with
/// places for words, until those are filled in.
package struct SocketMessages: Sendable, Hashable {
    /// Sent as soon as the connection stands.
    package private(set) var opening: [String] = []
    /// The service says by it that audio may come; nil: audio is not held back.
    private var greeting: ValueCondition?
    /// JSON around a piece of audio in base64; nil: a piece of audio is a binary message.
    private var audio: String?
    /// Sent behind the last piece of audio; an empty one is binary.
    package private(set) var ending: [String] = []
    /// Sent while nothing is spoken.
    package private(set) var keepAlive: String?
    package private(set) var keepAliveInterval = Duration.seconds(5)
    /// The service says by a message when its answer is whole; otherwise by closing the session.
    package internal(set) var saysEnd = false
    /// The target and the Host of the handshake over a Unix socket, whose address has neither.
    package private(set) var (target, host) = ("/", "localhost")
    /// They are events of Wyoming, and no frames of a WebSocket.
    package internal(set) var speaksWyoming = false
    var closeCodes: Set<Int>?

    package init() {}

    init(_ reader: inout SettingsReader) throws(SettingsError) {
        opening = try reader.strings("open") ?? []
        greeting = try reader.condition("greeting")
        audio = try reader.string("audio")
        guard let ending = try reader.strings("finish"), !ending.isEmpty else {
            throw reader.error("finish", " is missing: it says that the recording has ended")
        }
        self.ending = ending
        keepAlive = try reader.string("keep-alive")
        keepAliveInterval =
            try reader.seconds("keep-alive-seconds", upTo: 3_600) ?? keepAliveInterval
        target = try reader.string("path") ?? target
        host = try reader.string("host") ?? host
        guard target.hasPrefix("/") else { throw reader.error("path", " begins with '/'") }
        let named = [("open", opening), ("finish", ending), ("keep-alive", [keepAlive ?? ""])]
        for (key, texts) in named {
            for text in texts where Self.isJSON(text) {
                try WordJSON.check(text, path: reader.path(key), at: reader.place(key))
            }
        }
        guard let audio else { return }
        try WordJSON.check(audio, path: reader.path("audio"), at: reader.place("audio"))
        guard Self.parts(of: audio).count == 2 else {
            throw reader.error("audio", " needs {audio} once: it stands for a piece in base64")
        }
    }

    private static func isJSON(_ text: String) -> Bool { text.hasPrefix("{") }

    private static func parts(of audio: String) -> [Substring] {
        audio.split(separator: JSONTemplate.mark, omittingEmptySubsequences: false)
    }

    /// The texts in which words may stand.
    var texts: [String] { opening + ending + [keepAlive, audio].compactMap(\.self) }

    func filled(by words: [String: String]) -> SocketMessages {
        func filled(_ text: String) -> String? {
            Self.isJSON(text)
                ? WordJSON.filled(text, by: words, keeping: ["audio"])
                : WordTemplate(text).filled(by: words)
        }
        var messages = self
        messages.opening = opening.compactMap(filled)
        messages.ending = ending.compactMap(filled)
        messages.keepAlive = keepAlive.flatMap(filled)
        messages.audio = audio.flatMap(filled)
        return messages
    }

    /// The bytes around a piece of audio in base64; nil: a piece of audio is a binary message.
    package var aroundAudio: (before: [UInt8], behind: [UInt8])? {
        audio.map(Self.parts).map { (Array($0[0].utf8), Array($0[1].utf8)) }
    }

    /// Whether a session is tried again that the service has closed; a code of nil: it gave none.
    package func isTriedAgain(after code: Int?) -> Bool {
        guard let code else { return true }
        // RFC 6455 §7.4: after these codes the same session would end in the same way.
        return closeCodes?.contains(code)
            ?? ![1000, 1002, 1003, 1007, 1008, 1009, 1010].contains(code)
    }

    package var awaitsGreeting: Bool { greeting != nil }

    package func isGreeting(_ message: [UInt8]) -> Bool {
        // Another message, whatever it is.
        guard let greeting, let value = try? JSONParser.parse(message) else { return false }
        return greeting.holds(in: value, of: nil)
    }
}
