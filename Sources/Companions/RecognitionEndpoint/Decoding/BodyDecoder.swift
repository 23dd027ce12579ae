// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import Capture
internal import Cryptography
internal import LinuxPlatform

/// Turns the bytes of one body into 16 kHz mono while they arrive; used on one thread.
struct BodyDecoder {
    private let decoder: any AudioDecoder
    private var converter: SpeechConverter?
    private var samples: [Int16] = []
    private var frameCount = 0
    private var flaws = FlawSummary()
    /// Silence in the place of what was lost, in seconds; the last one stands for all that follow.
    private(set) var gaps: [RecognitionGap] = []
    private static let mostGaps = 1_000

    /// The oddities of the recording, each in a sentence, once it has ended.
    var notices: [String] {
        let ending = decoder.isAtEnd ? nil : "breaks off before its end"
        let isMixed = converter?.hasChosenChannel == true
        return [flaws.sentence(about: "the recording", ending: ending)].compactMap(\.self)
            + (isMixed ? [SignalState.cancelling.text] : [])
    }

    /// The form that surrounds the file, also an encrypted one; nil for other bodies.
    var form: FormDecoder? {
        decoder as? FormDecoder ?? (decoder as? SealedBodyDecoder)?.decoder as? FormDecoder
    }

    /// Whether `finish` has to be called again for the rest.
    var hasMore: Bool { decoder.hasMore }

    init(
        _ mediaType: AudioMediaType, by means: DecodingMeans = DecodingMeans()
    ) throws(UndecodableAudio) {
        decoder = try mediaType.makeDecoder(by: means)
    }

    /// Takes bytes in, cut anywhere, and appends what they decode to.
    mutating func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        samples.removeAll(keepingCapacity: true)
        try decoder.decode(bytes, into: &samples)
        try convert(into: &output)
    }

    mutating func finish(into output: inout [Int16]) throws(UndecodableAudio) {
        samples.removeAll(keepingCapacity: true)
        try decoder.finish(into: &samples)
        try convert(into: &output, isEnd: !hasMore)
    }

    private mutating func convert(
        into output: inout [Int16], isEnd: Bool = false
    ) throws(UndecodableAudio) {
        do throws(ConversionError) {
            if converter == nil, let format = decoder.format {
                converter = try SpeechConverter(from: format)
            }
            let found = decoder.takeFlaws()
            note(found)
            try found.weave(
                samples, from: &frameCount, channels: decoder.format?.channelCount ?? 1
            ) { piece throws(ConversionError) in
                try converter?.convert(piece, into: &output)
            }
            if isEnd { try converter?.finish(into: &output) }
        } catch {
            throw UndecodableAudio(error.description)
        }
    }

    private mutating func note(_ found: [AudioFlaw]) {
        flaws.add(found.map(\.text))
        let rate = Double(decoder.format?.sampleRate ?? 1)
        for flaw in found where flaw.frames > 0 {
            let gap = RecognitionGap(
                start: Double(flaw.start) / rate, duration: Double(flaw.frames) / rate)
            if gaps.count < Self.mostGaps {
                gaps.append(gap)
            } else {
                gaps[gaps.count - 1].duration += gap.duration
            }
        }
    }
}

/// The means by which bodies of all kinds are decoded.
struct DecodingMeans: Sendable {
    /// The key of encrypted bodies.
    var key: EncryptionKey?
    var converter: Converter?
    /// For bodies that have to be whole before they are decoded.
    var folder = RecognitionEndpointConfiguration.usualTemporaryFolder
}

extension AudioMediaType {
    func makeDecoder(by means: DecodingMeans) throws(UndecodableAudio) -> any AudioDecoder {
        switch self {
        case .pcm(let format, let isBigEndian):
            return makePCMDecoder(.int16, format: format, isBigEndian: isBigEndian)
        case .file(let codec): return FileDecoder(codec, by: means)
        case .form(let boundary): return FormDecoder(boundary: boundary, by: means)
        case .encrypted:
            guard let key = means.key else {
                throw UndecodableAudio("it is encrypted, and there is no key here")
            }
            return SealedBodyDecoder(key: key, by: means)
        }
    }
}

/// A decoder of bytes within others, of a kind that these say.
protocol OuterDecoder: AudioDecoder {
    /// The decoder of the bytes inside; nil until their kind is known.
    var decoder: (any AudioDecoder)? { get }
}

extension OuterDecoder {
    var format: StreamFormat? { decoder?.format }
    var hasMore: Bool { decoder?.hasMore ?? false }
    func takeFlaws() -> [AudioFlaw] { decoder?.takeFlaws() ?? [] }
}

/// Decrypts a body, and decodes what is in it by the type that its head says.
private final class SealedBodyDecoder: OuterDecoder {
    private var reader: SealedBodyReader
    private(set) var decoder: (any AudioDecoder)?

    private let means: DecodingMeans

    init(key: EncryptionKey, by means: DecodingMeans) {
        reader = SealedBodyReader(key: key)
        self.means = means
    }

    var isAtEnd: Bool { reader.isWhole && decoder?.isAtEnd ?? true }

    func decode(_ bytes: Span<UInt8>, into output: inout [Int16]) throws(UndecodableAudio) {
        var plain: [UInt8] = []
        do throws(EncryptionError) {
            try reader.read(bytes, into: &plain)
        } catch {
            throw UndecodableAudio(Self.reason(error))
        }
        guard let head = reader.head else { return }
        if decoder == nil {
            decoder = try AudioMediaType(parsing: head.contentType).makeDecoder(by: means)
        }
        try decoder?.decode(plain.span, into: &output)
    }

    func finish(into output: inout [Int16]) throws(UndecodableAudio) {
        guard reader.isWhole, let decoder else {
            throw UndecodableAudio("the end of the encrypted body is missing")
        }
        try decoder.finish(into: &output)
    }

    private static func reason(_ error: EncryptionError) -> String {
        switch error {
        case .wrongKey: "it is encrypted with another key"
        case .damaged: "it is not an encrypted body, or was altered on the way"
        case .laterVersion(let version): "it is encrypted in version \(version) of the form"
        case .system(let error): error.description
        }
    }
}
