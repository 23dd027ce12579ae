// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore

final class FormDecoder: AudioDecoder {
    private var reader: FormReader
    private var decoder: (any AudioDecoder)?

    init(boundary: String) { reader = FormReader(boundary: boundary) }

    var format: StreamFormat? { decoder?.format }

    var isAtEnd: Bool { reader.isWhole }

    var wantedFormat: String? { reader.texts["response_format"] }

    func decode(_ bytes: Span<UInt8>, into output: inout [Int16]) throws(UndecodableAudio) {
        var audio: [UInt8] = []
        try reader.read(bytes, into: &audio)
        if decoder == nil, let file = reader.file { decoder = try Self.decoder(of: file) }
        try decoder?.decode(audio.span, into: &output)
    }

    func finish(into output: inout [Int16]) throws(UndecodableAudio) {
        guard reader.isWhole else { throw UndecodableAudio("the form has no end") }
        guard let decoder else { throw UndecodableAudio("the form has no file") }
        guard reader.texts["stream"]?.lowercased() != "true" else {
            throw UndecodableAudio("'stream' is not offered: the text comes at the end")
        }
        guard wantedFormat.map({ AnswerFormat.documents[$0] != nil }) ?? true else {
            throw UndecodableAudio("the 'response_format' is json, verbose_json, text, srt or vtt")
        }
        try decoder.finish(into: &output)
    }

    private static func decoder(
        of file: FormPartHead
    ) throws(UndecodableAudio) -> any AudioDecoder {
        do throws(UnsupportedMediaType) {
            return try file.mediaType.makeDecoder()
        } catch {
            throw UndecodableAudio(error.reason)
        }
    }
}
