// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// What kind of audio a request's body is, as its `Content-Type` says (RFC 9110 §8.3).
enum AudioMediaType: Sendable, Equatable {
    /// Signed 16-bit samples without a header.
    case pcm(StreamFormat, isBigEndian: Bool)
    /// A WAV file; its header says the rest.
    case wav
    /// Opus in Ogg.
    case oggOpus

    /// Reads a header field's value.
    ///
    /// `audio/pcm`, `audio/l16`, `audio/raw` and `application/octet-stream` are little-endian,
    /// 16 kHz, mono; the parameters `rate`, `channels` and `endian` (`little`, `big`) say
    /// otherwise. That `audio/l16` is little-endian is what speech services do and not what
    /// RFC 2586 says; use `endian=big` for the latter.
    ///
    /// - Throws: `UnsupportedMediaType` for anything that is not understood whole.
    init(parsing value: String?) throws(UnsupportedMediaType) {
        guard let value, !value.isEmpty else {
            throw UnsupportedMediaType(reason: "the request has no Content-Type")
        }
        var parts = value.split(separator: ";", omittingEmptySubsequences: false)
        let name = Self.trimmed(parts.removeFirst()).lowercased()
        var parameters: [String: String] = [:]
        for part in parts where !Self.trimmed(part).isEmpty {
            guard let sign = part.firstIndex(of: "=") else {
                throw UnsupportedMediaType(reason: "'\(Self.trimmed(part))' is not a parameter")
            }
            let text = Self.trimmed(part[part.index(after: sign)...])
            parameters[Self.trimmed(part[..<sign]).lowercased()] =
                text.hasPrefix("\"") && text.hasSuffix("\"") && text.count > 1
                ? text.dropFirst().dropLast().lowercased() : text.lowercased()
        }
        switch name {
        case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
            self = .wav
        case "audio/ogg", "application/ogg", "audio/opus":
            let codecs = parameters["codecs", default: "opus"]
            guard codecs == "opus" else {
                throw UnsupportedMediaType(reason: "the codec '\(codecs)' is not supported")
            }
            self = .oggOpus
        case "audio/pcm", "audio/l16", "audio/raw", "audio/x-raw", "application/octet-stream":
            self = try Self.pcm(parameters)
        default:
            throw UnsupportedMediaType(reason: "'\(name)' is not supported")
        }
    }

    private static func pcm(
        _ parameters: [String: String]
    ) throws(UnsupportedMediaType) -> AudioMediaType {
        var format = StreamFormat.speech
        var isBigEndian = false
        for (name, value) in parameters {
            switch name {
            case "rate":
                guard let rate = Int(value), (1000...768_000).contains(rate) else {
                    throw UnsupportedMediaType(reason: "the rate '\(value)' is not supported")
                }
                format.sampleRate = rate
            case "channels":
                guard let count = Int(value), (1...32).contains(count) else {
                    throw UnsupportedMediaType(reason: "'\(value)' channels are not supported")
                }
                format.channelCount = count
            case "endian", "endianness":
                guard ["little", "big", "little-endian", "big-endian"].contains(value) else {
                    throw UnsupportedMediaType(reason: "the byte order '\(value)' is not known")
                }
                isBigEndian = value.hasPrefix("big")
            case "bits":
                guard value == "16" else {
                    throw UnsupportedMediaType(reason: "\(value) bits are not supported")
                }
            case "encoding":
                guard ["signed-integer", "linear16", "s16le"].contains(value) else {
                    throw UnsupportedMediaType(reason: "the encoding '\(value)' is not supported")
                }
            default:
                // Parameters that say nothing about the samples.
                break
            }
        }
        return .pcm(format, isBigEndian: isBigEndian)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}

/// Why a `Content-Type` is refused.
struct UnsupportedMediaType: Error, Equatable {
    let reason: String
}
