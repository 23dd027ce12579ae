// SPDX-License-Identifier: Apache-2.0

package import AudioCore

/// A form in which audio travels and is kept: all that the program knows of it.
///
/// The journal of a take is always a file that players open, and a request sends that file from
/// `bodyOffset` on. So raw PCM is the WAV journal without its header. A new form is a folder beside
/// the others, with its encoder, decoder and recoverer, and a line in `allCases` and `InputType`.
/// The sound is always 16 kHz mono.
public struct AudioCodec: Sendable {
    /// All forms, in the order in which a person reads them.
    public static let allCases: [AudioCodec] = [.pcm, .wav, .oggOpus, .flac]

    /// The form's name, such as `ogg-opus`.
    public let name: String
    /// Such as "Ogg Opus".
    package let title: String
    /// The extension of a journal in this form, without the dot.
    package let fileExtension: String
    /// All extensions of files in this form, without the dot.
    var fileExtensions: [String]
    /// The `Content-Type` of the request body (RFC 9110 §8.3).
    package let mediaType: String
    /// All media types that name this form, in lower case and without parameters.
    package let mediaTypes: [String]
    /// The first bytes of each file of this form, where they are the same for all; otherwise empty.
    ///
    /// A decoder is given it instead of the file's own, which a power cut may have taken.
    package private(set) var header: [UInt8] = []
    /// The offset in the journal at which the request body begins, in bytes.
    package private(set) var bodyOffset = 0
    /// The most that a second of speech comes to, in bytes; for the size of a ring.
    let highestByteRate: Int
    /// The bytes of a second of speech; a generous mean where they vary.
    package let nominalByteRate: Int
    package let isLossless: Bool
    /// Where a file says how many samples it has, and how.
    package typealias Length = (place: Range<Int>, bytes: @Sendable (_ frames: Int) -> [UInt8])
    /// The length in a file; nil when none says it, or readers do without.
    package private(set) var length: Length?
    /// The same for a file that is stored and not read at once; no bytes when there is no room for
    /// the number.
    package private(set) var storedLength: Length?
    /// The serial number is that of an Ogg stream.
    let encoder:
        @Sendable (_ serialNumber: UInt32, _ frames: Int) throws(EncodingError) -> any AudioEncoder
    package let makeDecoder: @Sendable () -> any AudioDecoder
    /// Makes the recoverer of one file; it is told whether zeros at the end may be bytes that
    /// never arrived on the disk.
    package let makeRecoverer: @Sendable (_ dropsEmptyTail: Bool) -> any AudioRecoverer

    /// The extension of a file that holds what is sent, without the dot.
    package var sentExtension: String { bodyOffset == 0 ? fileExtension : name }

    /// The size of a ring that holds 30 s of speech, in bytes.
    package var ringByteCount: Int { 30 * highestByteRate }

    /// Makes the encoder of one take; the serial number of an Ogg stream is random unless the same
    /// bytes are wanted again, and `frames` is how many will come, as far as is known.
    package func makeEncoder(
        serialNumber: UInt32 = .random(in: .min ... .max), frames: Int = 0
    ) throws(EncodingError) -> any AudioEncoder {
        try encoder(serialNumber, frames)
    }
}

extension AudioCodec: RawRepresentable, CaseIterable, Hashable {
    /// The form's name.
    public var rawValue: String { name }

    /// The form of which a recording has this type; nil when there is none.
    package init?(mediaType: String) {
        let name = String(mediaType.prefix { $0 != ";" })
        let found = Self.allCases.first { codec in
            codec.mediaType == mediaType || codec.mediaTypes.contains(name)
        }
        guard let found else { return nil }
        self = found
    }

    /// The form of this name.
    ///
    /// Fails when there is none.
    public init?(rawValue name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}

// MARK: - Which one

extension AudioCodec {
    /// The form that a file's name promises, if any; what has no header of its own is never meant.
    package init?(fileName: String) {
        let parts = fileName.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        let found = Self.allCases.last { codec in
            parts.count > 1 && parts.last.map { codec.fileExtensions.contains(String($0)) } ?? false
        }
        guard let found else { return nil }
        self = found
    }

    /// As a sentence lists them: "pcm, wav or flac".
    package static var names: String {
        allCases.dropLast().map(\.name).joined(separator: ", ") + " or "
            + (allCases.last?.name ?? "")
    }

    /// Whether both have the same file, of which a different part is sent.
    package func isKept(like other: AudioCodec) -> Bool { fileExtension == other.fileExtension }
}

/// Turns 16 kHz mono PCM into the bytes of one audio file, in order, append-only.
///
/// The concatenation of everything appended by `begin`, `encode` and `finish` is a file that
/// any player opens; cut anywhere, what stands before the cut still plays. An encoder belongs
/// to one take and is handed to the capture thread with it; after its first second it allocates
/// nothing.
package protocol AudioEncoder: AnyObject {
    func begin(into output: inout [UInt8]) throws(EncodingError)

    /// Appends what became ready: nothing, a part of a page, or several.
    func encode(_ frames: Span<Int16>, into output: inout [UInt8]) throws(EncodingError)

    /// Appends everything that is still inside the encoder and the file's end mark.
    func finish(into output: inout [UInt8]) throws(EncodingError)

    /// The beginning that the file would have if its length had been known at the start.
    ///
    /// As long as what `begin` has appended, and asked after `finish`; nil when nothing would change.
    var settledHeader: [UInt8]? { get }

    /// The most bytes that encoding `frames` more frames, and finishing, can append.
    func maximumByteCount(forFrames frames: Int) -> Int
}

extension AudioEncoder {
    var settledHeader: [UInt8]? { nil }
}

/// Turns the bytes of one audio file into samples while they come; used by one thread at a time.
///
/// Memory stays below some megabytes whatever comes in. Damage costs only itself: the decoder goes
/// on at the next whole frame or page.
package protocol AudioDecoder: AnyObject {
    /// The rate and layout of the samples; nil until the file's header has said it.
    var format: StreamFormat? { get }

    /// Whether the file is at its end, as far as it says how long it is.
    var isAtEnd: Bool { get }

    /// Takes the next bytes of the file in, cut anywhere, and appends the interleaved samples that they
    /// decode to; after an error the decoder is not to be used any further.
    func decode(_ bytes: Span<UInt8>, into output: inout [Int16]) throws(UndecodableAudio)

    /// Ends the file, and appends what the last bytes decode to; less than a frame is dropped.
    func finish(into output: inout [Int16]) throws(UndecodableAudio)

    /// Whether `finish` has to be called again for the rest.
    var hasMore: Bool { get }

    /// The flaws found since the last call, in order.
    func takeFlaws() -> [AudioFlaw]
}

extension AudioDecoder {
    package var hasMore: Bool { false }

    /// Nothing: samples alone show no flaw.
    package func takeFlaws() -> [AudioFlaw] { [] }
}

package struct UndecodableAudio: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
    /// Whether it is of a form that cannot be decoded at all.
    package let isOfUnknownType: Bool

    package init(_ description: String, isOfUnknownType: Bool = false) {
        (self.description, self.isOfUnknownType) = (description, isOfUnknownType)
    }
}

/// Finds out how much of an audio file is whole after its writer was cut off.
///
/// Used by one thread; at most one frame or page of the file is kept in memory.
package protocol AudioRecoverer: AnyObject {
    /// Takes the next bytes of the file in; at most a few kilobytes at once.
    func append(_ bytes: Span<UInt8>)

    func finish() throws(EncodingError) -> IntactAudio
}

package struct IntactAudio: Sendable, Equatable {
    /// The bytes from the start that are whole: up to the last frame or page that vouches for
    /// itself.
    package let byteCount: Int
    /// The frames at 16 kHz in them.
    package let frames: Int
    /// The first hole; nil when there is none, or nothing follows it.
    package private(set) var hole: FileHole?
}

/// A hole in an audio file of ours, and what belongs there.
///
/// A power cut may take what was written first, and leave what was written after it. The headers of
/// an encoder of ours are known, as they depend on nothing that was said; sound becomes silence.
package struct FileHole: Sendable, Equatable {
    package private(set) var offset = 0
    package let replacedByteCount: Int
    package let bytes: [UInt8]
    /// Frames at 16 kHz of silence within, in the place of audio that was lost.
    package let silentFrames: Int
}

/// Why audio could not be encoded.
public enum EncodingError: Error, Sendable, Equatable {
    /// A call of the codec failed; `reason` is the library's word for it.
    case codecFailed(operation: String, reason: String)
}

extension EncodingError: CustomStringConvertible {
    /// The message: what happened and why, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .codecFailed(let operation, let reason):
            "encoding failed: \(operation): \(reason)"
        }
    }
}
