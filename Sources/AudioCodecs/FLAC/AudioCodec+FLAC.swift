// SPDX-License-Identifier: Apache-2.0

extension AudioCodec {
    /// FLAC (RFC 9639): the same samples in some 60 % of the bytes.
    ///
    /// Of the streamable subset (§7): each frame says what it takes to decode it.
    public static let flac = AudioCodec(
        name: "flac", title: "FLAC", fileExtension: "flac", fileExtensions: ["flac"],
        mediaType: "audio/flac", mediaTypes: ["audio/flac", "audio/x-flac"],
        // Noise cannot be compressed, and each frame has a head.
        highestByteRate: 34_000, nominalByteRate: 20_000, isLossless: true,
        length: (FLACHeader.sampleCountPlace, { FLACHeader.sampleCountBytes($0) }),
        signature: [(0, Array("fLaC".utf8))],
        encoder: { _ throws(EncodingError) in try FLACEncoder() },
        makeDecoder: { FLACDecoder() }, makeRecoverer: { _ in FLACRecoverer() })
}
