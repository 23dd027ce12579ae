// SPDX-License-Identifier: Apache-2.0

/// Reads a WAV header piece by piece, and asks for no byte that it can skip.
///
/// The owner reads `wantedByteCount` bytes at `wantedOffset` and passes them to `take`, until
/// that returns a header. Offsets only grow, so a pipe can be read this way as well.
package struct WAVHeaderParser: Sendable {
    /// The most chunks before the data; a hostile file could hold millions of empty ones.
    static let maximumChunkCount = 1_024
    package private(set) var wantedOffset = 0

    /// How many bytes `take` needs, at most a whole extensible format chunk.
    package private(set) var wantedByteCount = 12

    private var state = State.atStart
    private var chunkCount = 0
    private var riffByteCount: UInt64 = 0
    private var longDataByteCount: UInt64?
    private var format: WAVFormatChunk?

    private enum State {
        case atStart
        case atChunk
        case inFormat(next: Int)
        case inSizes(next: Int)
    }

    package init() {}

    /// Whether the samples are of a kind that is read here.
    package var hasFormat: Bool { format != nil }

    /// Takes exactly the wanted bytes, or fewer when the file ends here; `nil` when more is wanted.
    package mutating func take(_ bytes: Span<UInt8>) throws(WAVError) -> WAVHeader? {
        guard bytes.count >= wantedByteCount else {
            throw .endsInHeader(byteCount: wantedOffset + bytes.count)
        }
        switch state {
        case .atStart:
            try takeStart(bytes)
        case .atChunk:
            return try takeChunk(bytes)
        case .inFormat(let next):
            format = try WAVFormatChunk(bytes, at: wantedOffset)
            wantChunk(at: next)
        case .inSizes(let next):
            riffByteCount = bytes.littleEndian(at: 0, byteCount: 8)
            longDataByteCount = bytes.littleEndian(at: 8, byteCount: 8)
            wantChunk(at: next)
        }
        return nil
    }

    private mutating func takeStart(_ bytes: Span<UInt8>) throws(WAVError) {
        let container = ChunkIdentifier(bytes, at: 0)
        guard [.riff, .rf64, .bw64].contains(container) else { throw .notRIFF(found: container) }
        let form = ChunkIdentifier(bytes, at: 8)
        guard form == .wave else { throw .notWAVE(found: form) }
        riffByteCount = bytes.littleEndian(at: 4, byteCount: 4)
        wantChunk(at: 12)
    }

    private mutating func takeChunk(_ bytes: Span<UInt8>) throws(WAVError) -> WAVHeader? {
        let chunk = ChunkIdentifier(bytes, at: 0)
        let byteCount = Int(bytes.littleEndian(at: 4, byteCount: 4))
        let offset = wantedOffset
        // Chunks of odd length are followed by a padding byte that their size leaves out.
        let next = offset + 8 + byteCount + byteCount & 1

        if chunk == .data {
            guard let format else { throw .dataBeforeFormat(offset: offset) }
            return WAVHeader(
                sampleFormat: format.sampleFormat, streamFormat: format.streamFormat,
                dataOffset: offset + 8,
                dataByteCount: dataByteCount(UInt64(byteCount), dataOffset: offset + 8))
        }

        chunkCount += 1
        guard chunkCount <= Self.maximumChunkCount else {
            throw .tooManyChunks(offset: offset, limit: Self.maximumChunkCount)
        }
        switch chunk {
        case .format:
            guard format == nil else { throw .secondFormat(offset: offset) }
            try require(byteCount, of: chunk, atLeast: WAVFormatChunk.minimumByteCount)
            want(
                .inFormat(next: next), at: offset + 8,
                byteCount: min(byteCount, WAVFormatChunk.maximumByteCount))
        case .sizes:
            try require(byteCount, of: chunk, atLeast: 16)
            want(.inSizes(next: next), at: offset + 8, byteCount: 16)
        default:
            wantChunk(at: next)
        }
        return nil
    }

    private func dataByteCount(_ claimed: UInt64, dataOffset: Int) -> Int? {
        if claimed == 0xFFFF_FFFF, let longDataByteCount {
            let isKnown = longDataByteCount > 0 && longDataByteCount < UInt64(Int.max / 2)
            return isKnown ? Int(longDataByteCount) : nil
        }
        guard !Self.isPlaceholder(claimed) else { return nil }
        guard claimed == 0 else { return Int(claimed) }
        // An empty data chunk is believed only when the RIFF chunk goes on after it.
        let riffGoesOn =
            !Self.isPlaceholder(riffByteCount) && riffByteCount > UInt64(dataOffset - 8)
        return riffGoesOn ? 0 : nil
    }

    /// Whether a 32-bit size is one that writers put where they cannot know it.
    ///
    /// ffmpeg writes `0xFFFFFFFF`, sox `0x7FFFF000`, arecord `0x80000000`, and some subtract
    /// the header's length from one of them.
    private static func isPlaceholder(_ size: UInt64) -> Bool {
        (0x7FFF_E000...0x8000_0000).contains(size) || (0xFFFF_F000...0xFFFF_FFFF).contains(size)
    }

    private func require(
        _ byteCount: Int, of chunk: ChunkIdentifier, atLeast minimum: Int
    ) throws(WAVError) {
        guard byteCount >= minimum else {
            throw .chunkTooShort(
                offset: wantedOffset, chunk: chunk, byteCount: byteCount, minimum: minimum)
        }
    }

    private mutating func wantChunk(at offset: Int) {
        want(.atChunk, at: offset, byteCount: 8)
    }

    private mutating func want(_ state: State, at offset: Int, byteCount: Int) {
        self.state = state
        wantedOffset = offset
        wantedByteCount = byteCount
    }
}
