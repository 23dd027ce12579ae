// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import Capture

/// Decodes a file by what its first bytes say, whatever its type does.
final class FileDecoder: OuterDecoder {
    private let codec: AudioCodec?
    private let means: DecodingMeans
    /// Until it is known how they are decoded.
    private var beginning: [UInt8] = []
    private(set) var decoder: (any AudioDecoder)?

    /// The form that is said counts for bytes that say nothing.
    init(_ codec: AudioCodec?, by means: DecodingMeans) {
        (self.codec, self.means) = (codec, means)
    }

    var isAtEnd: Bool { decoder?.isAtEnd ?? false }

    func decode(_ bytes: Span<UInt8>, into output: inout [Int16]) throws(UndecodableAudio) {
        guard decoder == nil else { return try decoder?.decode(bytes, into: &output) ?? () }
        for index in bytes.indices { beginning.append(bytes[index]) }
        let type = InputType(beginning.span)
        if case .undecided = type { return }
        try begin(type, into: &output)
    }

    func finish(into output: inout [Int16]) throws(UndecodableAudio) {
        if decoder == nil { try begin(InputType(beginning.span).settled, into: &output) }
        try decoder?.finish(into: &output)
    }

    private func begin(
        _ type: InputType, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        let made: any AudioDecoder
        switch (type, codec) {
        case (.wav, _): made = AudioCodec.wav.makeDecoder()
        case (.coded(let found), _): made = found.makeDecoder()
        case (.foreign(let kind), _):
            guard let converter = means.converter else { throw Self.unknown("it is \(kind)") }
            made = try ForeignDecoder(converter, kind: kind, folder: means.folder)
        case (.notSound(let kind), nil): throw Self.unknown("it is \(kind), and not sound")
        case (_, let codec?): made = codec.makeDecoder()
        case (_, nil): throw Self.unknown("neither its type nor its first bytes say what it is")
        }
        decoder = made
        let first = beginning
        beginning = []
        try made.decode(first.span, into: &output)
    }

    private static func unknown(_ reason: String) -> UndecodableAudio {
        UndecodableAudio("\(reason); send \(AudioMediaType.names)", isOfUnknownType: true)
    }
}
