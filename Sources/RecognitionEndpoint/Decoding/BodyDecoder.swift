// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import Cryptography
internal import LinuxPlatform

/// Turns the bytes of one body into 16 kHz mono while they arrive; used on one thread.
struct BodyDecoder {
    private let decoder: any AudioDecoder
    private var converter: SpeechConverter?
    private var samples: [Int16] = []

    /// What a form says of the answer's format; nil for other bodies.
    var wantedFormat: String? { decoder.form?.wantedFormat }

    /// Whether a form asks for events.
    var isStreamed: Bool { decoder.form?.isStreamed ?? false }

    /// What a form says of what is said in the recording.
    var hints: SpeechHints { decoder.form?.hints ?? SpeechHints() }

    /// The key is that of encrypted bodies.
    init(_ mediaType: AudioMediaType, key: EncryptionKey? = nil) throws(BodyFailure) {
        if mediaType == .encrypted, let key {
            decoder = SealedBodyDecoder(key: key)
        } else {
            decoder = try Self.decoder(of: mediaType)
        }
        try makeConverter()
    }

    private static func decoder(
        of type: AudioMediaType
    ) throws(BodyFailure) -> any AudioDecoder {
        do throws(UndecodableAudio) {
            return try type.makeDecoder()
        } catch {
            throw .notAudio(reason: error.description)
        }
    }

    /// Takes bytes in, cut anywhere, and appends what they decode to.
    mutating func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(BodyFailure) {
        samples.removeAll(keepingCapacity: true)
        do throws(UndecodableAudio) {
            try decoder.decode(bytes, into: &samples)
        } catch {
            throw .notAudio(reason: error.description)
        }
        try convert(into: &output)
    }

    mutating func finish(into output: inout [Int16]) throws(BodyFailure) {
        samples.removeAll(keepingCapacity: true)
        do throws(UndecodableAudio) {
            try decoder.finish(into: &samples)
        } catch {
            throw .notAudio(reason: error.description)
        }
        try convert(into: &output)
        do throws(ConversionError) {
            try converter?.finish(into: &output)
        } catch {
            throw .notAudio(reason: error.description)
        }
    }

    private mutating func makeConverter() throws(BodyFailure) {
        guard converter == nil, let format = decoder.format else { return }
        do throws(ConversionError) {
            converter = try SpeechConverter(from: format)
        } catch {
            throw .notAudio(reason: error.description)
        }
    }

    private mutating func convert(into output: inout [Int16]) throws(BodyFailure) {
        try makeConverter()
        do throws(ConversionError) {
            try converter?.convert(samples.span, into: &output)
        } catch {
            throw .notAudio(reason: error.description)
        }
    }
}

extension AudioMediaType {
    func makeDecoder() throws(UndecodableAudio) -> any AudioDecoder {
        switch self {
        case .pcm(let format, let isBigEndian):
            makePCMDecoder(.int16, format: format, isBigEndian: isBigEndian)
        case .file(let codec): codec.makeDecoder()
        case .form(let boundary): FormDecoder(boundary: boundary)
        case .encrypted: throw UndecodableAudio("it is encrypted, and there is no key here")
        }
    }
}

extension AudioDecoder {
    fileprivate var form: FormDecoder? {
        switch self {
        case let form as FormDecoder: form
        case let sealed as SealedBodyDecoder: sealed.decoder?.form
        default: nil
        }
    }
}

/// Decrypts a body, and decodes what is in it by the type that its head says.
private final class SealedBodyDecoder: AudioDecoder {
    private var reader: SealedBodyReader
    fileprivate private(set) var decoder: (any AudioDecoder)?

    init(key: EncryptionKey) { reader = SealedBodyReader(key: key) }

    var format: StreamFormat? { decoder?.format }

    var isAtEnd: Bool { reader.isWhole }

    func decode(_ bytes: Span<UInt8>, into output: inout [Int16]) throws(UndecodableAudio) {
        var plain: [UInt8] = []
        do throws(EncryptionError) {
            try reader.read(bytes, into: &plain)
        } catch {
            throw UndecodableAudio(Self.reason(error))
        }
        guard let head = reader.head else { return }
        if decoder == nil {
            let type: AudioMediaType
            do throws(UnsupportedMediaType) {
                type = try AudioMediaType(parsing: head.contentType)
            } catch {
                throw UndecodableAudio(error.reason)
            }
            decoder = try type.makeDecoder()
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
        case .damaged: "it is no encrypted body, or was altered on the way"
        case .laterVersion(let version): "it is encrypted in version \(version) of the form"
        case .system(let error): error.description
        }
    }
}
