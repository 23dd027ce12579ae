// SPDX-License-Identifier: Apache-2.0

/// Turns the file of a form into samples while the form comes; used on one thread.
struct FormDecoder {
    private var reader: FormReader
    /// Of the file's audio, once its head has come.
    private var decoder: BodyDecoder?

    /// Expects a form whose `Content-Type` names this boundary.
    init(boundary: String) { reader = FormReader(boundary: boundary) }

    /// Takes bytes in, and appends what the file decodes to.
    ///
    /// - Throws: `BodyFailure.notAudio`.
    mutating func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(BodyFailure) {
        var audio: [UInt8] = []
        try reader.read(bytes, into: &audio)
        if decoder == nil, let file = reader.file {
            let mediaType: AudioMediaType
            do throws(UnsupportedMediaType) {
                mediaType = try file.mediaType
            } catch {
                throw .notAudio(reason: error.reason)
            }
            decoder = try BodyDecoder(mediaType)
        }
        try decoder?.decode(audio.span, into: &output)
    }

    /// Ends the body, and appends what is still inside.
    ///
    /// - Throws: `BodyFailure.notAudio` when the form has no file, or no end.
    mutating func finish(into output: inout [Int16]) throws(BodyFailure) {
        guard reader.isWhole else { throw .notAudio(reason: "the form has no end") }
        guard decoder != nil else { throw .notAudio(reason: "the form has no file") }
        try decoder?.finish(into: &output)
    }
}
