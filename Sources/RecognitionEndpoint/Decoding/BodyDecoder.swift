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

    /// What a form says beside its file, also an encrypted one; nil for other bodies.
    var form: FormDecoder? { decoder.form }

    /// The key is that of encrypted bodies.
    init(_ mediaType: AudioMediaType, key: EncryptionKey? = nil) throws(UndecodableAudio) {
        decoder = try mediaType.makeDecoder(key: key)
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
        try convert(into: &output, isEnd: true)
    }

    private mutating func convert(
        into output: inout [Int16], isEnd: Bool = false
    ) throws(UndecodableAudio) {
        do throws(ConversionError) {
            if converter == nil, let format = decoder.format {
                converter = try SpeechConverter(from: format)
            }
            try converter?.convert(samples.span, into: &output)
            if isEnd { try converter?.finish(into: &output) }
        } catch {
            throw UndecodableAudio(error.description)
        }
    }
}

extension AudioMediaType {
    func makeDecoder(key: EncryptionKey? = nil) throws(UndecodableAudio) -> any AudioDecoder {
        switch self {
        case .pcm(let format, let isBigEndian):
            return makePCMDecoder(.int16, format: format, isBigEndian: isBigEndian)
        case .file(let codec): return codec.makeDecoder()
        case .form(let boundary): return FormDecoder(boundary: boundary)
        case .encrypted:
            guard let key else {
                throw UndecodableAudio("it is encrypted, and there is no key here")
            }
            return SealedBodyDecoder(key: key)
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
            decoder = try AudioMediaType(parsing: head.contentType).makeDecoder()
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
