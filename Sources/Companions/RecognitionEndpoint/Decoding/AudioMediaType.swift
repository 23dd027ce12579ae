// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import Cryptography

/// The kind of audio in a request's body, as its `Content-Type` says (RFC 9110 §8.3).
enum AudioMediaType: Sendable, Equatable {
    /// Signed 16-bit samples without a header.
    case pcm(StreamFormat, isBigEndian: Bool)
    /// A file that its first bytes tell; the form counts where they do not.
    case file(AudioCodec?)
    /// A form, one of whose parts is a file (RFC 7578).
    case form(boundary: String)
    /// A body of any type, encrypted.
    case encrypted

    static var names: String {
        let files = AudioCodec.allCases.filter { !$0.mediaTypes.isEmpty }
        return files.map(\.mediaType).joined(separator: ", ") + " or audio/pcm, or a form"
    }

    /// Types of files that may be recordings, besides those of audio and video.
    private static let files = ["application/octet-stream", "application/ogg", "application/mp4"]

    /// PCM has the rate, channels and byte order that its parameters say, or else 16 kHz, mono and
    /// little-endian; `audio/l16` alone is big-endian unless `endian=little` says otherwise
    /// (RFC 2586 §2).
    ///
    /// The forms that speech services have given the parameters are understood, too:
    /// `rate=16k`, `bit=16`, `endianness=little-endian`, and the capabilities of GStreamer,
    /// `audio/x-raw,format=(string)S16LE,rate=(int)16000`.
    init(parsing value: String?) throws(UndecodableAudio) {
        guard let value, !value.isEmpty else {
            self = .file(nil)
            return
        }
        if value == SealedBody.mediaType {
            self = .encrypted
            return
        }
        if value.lowercased().hasPrefix("multipart/form-data") {
            guard let boundary = FormPartHead.parameter("boundary", in: value) else {
                throw UndecodableAudio("the form's boundary is missing")
            }
            self = .form(boundary: boundary)
            return
        }
        let type = value.prefix { $0 != ";" && $0 != "," }
        let name = Self.trimmed(type).lowercased()
        let isGStreamer = name.hasPrefix("audio/x-raw")
        let rest = value[type.endIndex...]
        guard isGStreamer || rest.first != "," else {
            throw UndecodableAudio("'\(value)' is more than one type")
        }
        var parameters: [(name: String, value: String)] = []
        for part in rest.split(whereSeparator: { $0 == ";" || isGStreamer && $0 == "," })
        where !Self.trimmed(part).isEmpty {
            guard let sign = part.firstIndex(of: "=") else {
                throw UndecodableAudio("'\(Self.trimmed(part))' is not a parameter")
            }
            var text = Self.trimmed(part[part.index(after: sign)...]).lowercased()
            // GStreamer says what kind of value it is.
            if isGStreamer, text.hasPrefix("("), let end = text.firstIndex(of: ")") {
                text = Self.trimmed(text[text.index(after: end)...])
            }
            if text.hasPrefix("\""), text.hasSuffix("\""), text.count > 1 {
                text = String(text.dropFirst().dropLast())
            }
            parameters.append((Self.trimmed(part[..<sign]).lowercased(), text))
        }
        switch name {
        case "audio/l16":
            self = try Self.pcm(parameters, isBigEndian: true)
        case "audio/pcm", "audio/x-pcm", "audio/raw", "audio/x-raw", "audio/x-raw-int":
            self = try Self.pcm(parameters, isBigEndian: false)
        default:
            guard name.hasPrefix("audio/") || name.hasPrefix("video/") || Self.files.contains(name)
            else {
                throw UndecodableAudio("'\(name)' is not supported")
            }
            let codec = AudioCodec.allCases.first { $0.mediaTypes.contains(name) }
            self = .file(codec)
        }
    }

    /// Whether the first byte of a sample is the higher one.
    private static let byteOrders = [
        "little": false, "little-endian": false, "1234": false, "s16le": false,
        "big": true, "big-endian": true, "4321": true, "s16be": true,
    ]
    private static let usual = ["16", "true", "interleaved", "signed-integer", "linear16"]

    private static func pcm(
        _ parameters: [(name: String, value: String)], isBigEndian: Bool
    ) throws(UndecodableAudio) -> AudioMediaType {
        var format = StreamFormat.speech
        var isBigEndian = isBigEndian
        for (name, value) in parameters {
            let isKnown: Bool
            switch name {
            case "rate":
                format.sampleRate = Self.rate(value) ?? 0
                isKnown = (1000...768_000).contains(format.sampleRate)
            case "channels":
                format.channelCount = Int(value) ?? 0
                isKnown = (1...32).contains(format.channelCount)
            case "endian", "endianness", "encoding", "format", "bits", "bit", "width", "depth",
                "signed", "layout":
                isKnown = Self.byteOrders[value] != nil || Self.usual.contains(value)
                isBigEndian = Self.byteOrders[value] ?? isBigEndian
            // Others say nothing about the samples.
            default: isKnown = true
            }
            guard isKnown else { throw UndecodableAudio("'\(name)=\(value)' is not supported") }
        }
        return .pcm(format, isBigEndian: isBigEndian)
    }

    /// Reads a rate in Hz, or in kHz with a `k` behind it.
    private static func rate(_ text: String) -> Int? {
        guard text.hasSuffix("k") else { return Int(text) }
        return Double(text.dropLast()).flatMap { Int(exactly: ($0 * 1_000).rounded()) }
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        var text = text[...].drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text = text.dropLast() }
        return String(text)
    }
}
