// SPDX-License-Identifier: Apache-2.0

/// A form in which audio travels and is kept: all that the program knows of it.
///
/// The journal of a take is always a file that players open; what is sent is that file from
/// `bodyOffset` on. So raw PCM is the WAV journal without its header. A new form is a folder beside
/// the others, with its encoder, decoder and recoverer, and a line in `allCases`. What is encoded is
/// always 16 kHz mono.
public struct AudioCodec: Sendable {
    /// All forms, in the order in which a person reads them.
    public static let allCases: [AudioCodec] = [.pcm, .wav, .oggOpus, .flac]

    /// What the form is called, such as `ogg-opus`.
    public let name: String
    /// What a person calls a file of this form, such as "Ogg Opus".
    package let title: String
    /// The extension of the journal's file name, without the dot.
    package let fileExtension: String
    /// All extensions by which files of this form are called, without the dot.
    var fileExtensions: [String]
    /// The `Content-Type` of the request body (RFC 9110 §8.3).
    package let mediaType: String
    /// All media types that name this form, in lower case and without parameters.
    package var mediaTypes: [String]
    /// What a file begins with whatever was said, when it is the same for every file.
    ///
    /// A decoder is given it instead of the file's own, which a power cut may have taken.
    package var header: [UInt8] = []
    /// The offset in the journal at which the request body begins, in bytes.
    package var bodyOffset = 0
    /// The most that a second of speech comes to, in bytes; for the size of a ring.
    let highestByteRate: Int
    /// What a second of speech comes to, in bytes; where it varies a generous mean.
    package let nominalByteRate: Int
    package let isLossless: Bool
    /// Where a file says how many samples it has, and how; nil when none does, or readers do without.
    package var length: (place: Range<Int>, bytes: @Sendable (_ frames: Int) -> [UInt8])?
    /// By what a file is known that is to be replayed: bytes, and where they stand.
    ///
    /// Without any it is no form of its own, or one that has a replay of its own.
    package var signature: [(offset: Int, bytes: [UInt8])] = []
    /// Makes the encoder of one take, with the serial number of its stream, if there is one.
    let encoder: @Sendable (_ serialNumber: UInt32) throws(EncodingError) -> any AudioEncoder
    package let makeDecoder: @Sendable () -> any AudioDecoder
    /// Makes the recoverer of one file; it is told whether zeros at the end may be bytes that
    /// never arrived on the disk.
    package let makeRecoverer: @Sendable (_ dropsEmptyTail: Bool) -> any AudioRecoverer

    /// The extension of a file that holds what is sent, without the dot.
    package var sentExtension: String { bodyOffset == 0 ? fileExtension : name }

    /// The size of a ring that holds 30 s of speech, in bytes.
    package var ringByteCount: Int { 30 * highestByteRate }

    /// Makes a new encoder for one take.
    ///
    /// - Parameter serialNumber: that of the Ogg stream, if there is one; random unless the same
    ///   bytes are wanted again.
    /// - Returns: the encoder.
    /// - Throws: `EncodingError` when the codec cannot be created.
    package func makeEncoder(
        serialNumber: UInt32 = .random(in: .min ... .max)
    ) throws(EncodingError) -> any AudioEncoder {
        try encoder(serialNumber)
    }
}

extension AudioCodec: RawRepresentable, CaseIterable, Hashable {
    /// What the form is called.
    public var rawValue: String { name }

    /// The form of this name.
    ///
    /// Nil when there is none.
    public init?(rawValue name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}

// MARK: - Which one

extension AudioCodec {
    /// The form that a file's name promises; what has no header of its own is never meant.
    ///
    /// Nil when the name promises none of them.
    package init?(fileName: String) {
        let parts = fileName.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        let found = Self.allCases.last { codec in
            parts.count > 1 && parts.last.map { codec.fileExtensions.contains(String($0)) } ?? false
        }
        guard let found else { return nil }
        self = found
    }

    /// The names of all forms as a sentence lists them: "pcm, wav or flac".
    package static var names: String {
        allCases.dropLast().map(\.name).joined(separator: ", ") + " or "
            + (allCases.last?.name ?? "")
    }

    /// Whether both are kept in files of the same form, and differ in what of it is sent.
    package func isKept(like other: AudioCodec) -> Bool { fileExtension == other.fileExtension }
}
