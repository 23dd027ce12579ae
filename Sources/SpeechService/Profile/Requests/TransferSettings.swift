// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
internal import LinuxPlatform
internal import Settings

package struct TransferSettings: Sendable, Hashable {
    package private(set) var framing: BodyFraming?
    /// The service finds the end of the speech by itself.
    var detectsEnd = false
    /// The service must agree before the body is sent (RFC 9110 §10.1.1).
    var expectsContinue = false
    package private(set) var idHeader: String?
    package private(set) var connect: Duration?
    package private(set) var answer: Duration?
    package private(set) var stall: Duration?
    package private(set) var refusal: Duration?
    package private(set) var whole: Duration?
    /// Redirects may lead there, with the secret and the audio.
    package private(set) var redirectOrigins: [Origin] = []
    package private(set) var catchUpRate: CatchUpRate?
    /// To another machine.
    package private(set) var allowsSecretsInClear = false

    init() {}

    init(_ reader: inout SettingsReader) throws(SettingsError) {
        framing = try reader.word("framing")
        detectsEnd = try reader.flag("endpointing") ?? false
        expectsContinue = try reader.flag("expect-continue") ?? false
        idHeader = try reader.string(
            "id-header",
            as: { text throws(ServiceError) in try HeaderField(name: text, value: "id").name })
        connect = try reader.seconds("connect-seconds", upTo: 86_400)
        answer = try reader.seconds("answer-seconds", upTo: 86_400)
        stall = try reader.seconds("stall-seconds", upTo: 86_400)
        refusal = try reader.seconds("refusal-seconds", upTo: 86_400)
        whole = try reader.seconds("whole-seconds", upTo: 86_400)
        allowsSecretsInClear = try reader.flag("insecure-token") ?? false
        if let text = try reader.string("catch-up") {
            catchUpRate = CatchUpRate(text)
            guard catchUpRate != nil else {
                throw reader.error(
                    "catch-up",
                    " must be a factor such as 4x, or bytes a second such as 64k, not "
                        + "'\(TerminalText.shown(text))'")
            }
        }
        redirectOrigins = try reader.strings("redirect-to", as: Origin.init(_:)) ?? []
    }
}

/// How a service learns where the body of a request ends (RFC 9112 §6).
public enum BodyFraming: String, Sendable, CaseIterable, Codable {
    /// Chunked while the recording is being made, and with its length when it is complete as an
    /// attempt begins, or for a service that takes no chunks: it answers 411, or too early.
    case auto
    /// Chunked, while the speaker speaks.
    case chunked
    /// With its length (`Content-Length`), once the recording is complete.
    case length
}

/// The method of a request that carries a recording (RFC 9110 §9.3).
public enum RequestMethod: String, Sendable, Codable, CaseIterable {
    /// The recording is processed by what is at the URL.
    case post = "POST"
    /// The recording becomes what is at the URL.
    case put = "PUT"
}

/// The limits of a service; nil: none.
package struct ServiceLimits: Sendable, Hashable {
    package private(set) var longest: Duration?
    package private(set) var shortest: Duration?
    /// Bytes of the audio as it travels.
    package private(set) var byteCount: Int?
    /// Requests for the stretches of a recording.
    package private(set) var requestsPerMinute: Int?

    init() {}

    init(_ reader: inout SettingsReader) throws(SettingsError) {
        longest = try reader.seconds("seconds", upTo: Self.limit)
        shortest = try reader.seconds("shortest-seconds", upTo: Self.limit, allowsZero: true)
        byteCount = try reader.integer("bytes")
        if let byteCount, byteCount <= 0 {
            throw reader.error("bytes", " must be above 0")
        }
        requestsPerMinute = try reader.integer("requests-per-minute")
        if let requestsPerMinute, !(1...100_000).contains(requestsPerMinute) {
            throw reader.error("requests-per-minute", " is from 1 to 100000")
        }
    }

    private static let limit = 30 * 86_400
}

/// How a recording is sent in several requests.
package struct StretchRules: Sendable, Hashable {
    /// Whether one that is too long for the service is cut.
    package private(set) var isEnabled = true
    /// Silence that lasts this long is not sent, once the recording is complete; nil: all is sent.
    package private(set) var skippedSilence: Duration?

    init() {}

    init(_ reader: inout SettingsReader) throws(SettingsError) {
        isEnabled = try reader.flag("enabled") ?? true
        skippedSilence = try reader.seconds("skip-silence", upTo: 3_600)
        if let skippedSilence, skippedSilence < .seconds(1) {
            throw reader.error("skip-silence", " must be at least 1: words have pauses")
        }
    }
}

/// How fast a service is given what was recorded before it could be sent.
///
/// It bounds the whole body, so that it must be more than speech needs.
public enum CatchUpRate: Sendable, Hashable {
    /// Bytes of the body a second.
    case bytes(perSecond: Int)
    /// So many times as fast as it was spoken.
    case times(Double)

    /// Bytes of the body in a second, at least 1.
    ///
    /// Base64 takes four bytes for three. A rate in hertz is another than that of the recording.
    package func bytesPerSecond(
        of format: AudioCodec, inBase64 isBase64: Bool, rate: Int? = nil
    ) -> Int {
        switch self {
        case .bytes(let perSecond): return max(1, perSecond)
        case .times(let factor):
            let spoken = Double(format.nominalByteRate) * Double(rate ?? 16_000) / 16_000
            let bytes = max(1, min(factor * spoken, 1e12).rounded())
            return Int(bytes * (isBase64 ? 4 / 3 : 1))
        }
    }

    /// The text that is read as this rate, in the bounds of one.
    package var text: String {
        switch self {
        case .bytes(let perSecond): "\(min(max(perSecond, 1), 1_000_000_000_000))"
        case .times(let factor): "\(min(max(factor, 1.1), 10_000))x"
        }
    }

    /// Reads `4x`, or bytes a second such as `64000`, `64k` or `1M`.
    package init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let number = Double(digits), number.isFinite, number > 0 else { return nil }
        let unit = text.dropFirst(digits.count)
        if unit == "x" {
            // A voice that is sent more slowly than it speaks never arrives.
            guard (1.1...10_000).contains(number) else { return nil }
            self = .times(number)
            return
        }
        guard let factor = ["": 1.0, "k": 1_000, "M": 1_000_000][String(unit)],
            (1...1e12).contains(number * factor)
        else { return nil }
        self = .bytes(perSecond: Int(number * factor))
    }
}
