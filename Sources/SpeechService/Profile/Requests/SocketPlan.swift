// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Settings

/// The messages with which a recording travels over a WebSocket (RFC 6455), as a profile says them.
struct SocketPlan: Sendable, Hashable {
    var opening: [String] = []
    var greeting: ValueCondition?
    /// nil: a piece of audio is a binary message.
    var audio: String?
    var ending: [String]
    var keepAlive: String?
    var keepAliveInterval = Duration.seconds(5)

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
        let named = [("open", opening), ("finish", ending), ("keep-alive", [keepAlive ?? ""])]
        for (key, texts) in named {
            for text in texts where Self.isJSON(text) {
                try WordJSON.check(text, path: reader.path(key), at: reader.place(key))
            }
        }
        guard let audio else { return }
        try WordJSON.check(audio, path: reader.path("audio"), at: reader.place("audio"))
        let parts = audio.split(separator: JSONTemplate.mark, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            throw reader.error("audio", " needs {audio} once: it stands for a piece in base64")
        }
    }

    private static func isJSON(_ text: String) -> Bool { text.hasPrefix("{") }

    /// The texts in which words may stand.
    var texts: [String] { opening + ending + [keepAlive, audio].compactMap(\.self) }

    func messages(by words: [String: String]) -> SocketMessages {
        SocketMessages(self) { text in
            let filled =
                Self.isJSON(text)
                ? WordJSON.filled(text, by: words, keeping: ["audio"])
                : WordTemplate(text).filled(by: words)
            return filled.map { Array($0.utf8) }
        }
    }
}

/// The messages of one service, with its words; texts, or binary if they are audio.
package struct SocketMessages: Sendable, Hashable {
    /// JSON around a piece of audio in base64.
    package struct Around: Sendable, Hashable {
        package let before, behind: [UInt8]
    }

    /// Sent as soon as the connection stands.
    package private(set) var opening: [[UInt8]] = []
    /// The service says by it that audio may come; nil: audio is not held back.
    fileprivate var greeting: ValueCondition?
    /// nil: a piece of audio is a binary message.
    package private(set) var audio: Around?
    /// Sent behind the last piece of audio; an empty one is binary.
    package private(set) var ending: [[UInt8]] = []
    /// Sent while nothing is spoken.
    package private(set) var keepAlive: [UInt8]?
    package private(set) var keepAliveInterval = Duration.seconds(5)
    /// The service says by a message when its answer is whole; otherwise by closing the session.
    package internal(set) var saysEnd = false

    package init() {}

    fileprivate init(_ plan: SocketPlan, _ filled: (String) -> [UInt8]?) {
        opening = plan.opening.compactMap(filled)
        greeting = plan.greeting
        ending = plan.ending.compactMap(filled)
        keepAlive = plan.keepAlive.flatMap(filled)
        keepAliveInterval = plan.keepAliveInterval
        let around = plan.audio.flatMap(filled).map { text in
            String(decoding: text, as: UTF8.self)
                .split(separator: JSONTemplate.mark, omittingEmptySubsequences: false)
                .map { Array($0.utf8) }
        }
        audio = around.map { Around(before: $0[0], behind: $0[1]) }
    }

    package var awaitsGreeting: Bool { greeting != nil }

    package func isGreeting(_ message: [UInt8]) -> Bool {
        // Another message, whatever it is.
        guard let greeting, let value = try? JSONParser.parse(message) else { return false }
        return greeting.holds(in: value, of: nil)
    }
}
