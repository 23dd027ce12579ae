// SPDX-License-Identifier: Apache-2.0

/// Reads what is around the samples of a WAV file piece by piece, and asks for no byte that it can
/// skip.
///
/// The owner reads `wantedByteCount` bytes at `wantedOffset` and passes them to `take`, until
/// that returns a header; behind the header's samples it calls `goOn`, and so on. The offsets hardly
/// ever go back, and never behind bytes that were taken, so a pipe can be read this way as well.
package struct WAVHeaderParser: Sendable {
    /// The most chunks before the data; a hostile file could hold millions of empty ones.
    static let maximumChunkCount = 1_024
    /// The longest chunk behind the samples; a longer one counts as more samples.
    private static let longestFollower = 1 << 24
    package private(set) var wantedOffset = 0

    /// How many bytes `take` needs, at most those of a frame and of a chunk's head.
    package private(set) var wantedByteCount = 12

    /// The oddity of the samples that follow, for `WAVHeader.oddity`.
    private var oddity: String?

    private var state = State.atStart
    private var chunkCount = 0
    private var longDataByteCount: UInt64?
    private var format: WAVFormatChunk?
    private var hasSamples = false

    private enum State {
        case atStart
        case atChunk
        case inFormat(next: Int)
        case inSizes(next: Int)
        /// Behind whole frames, and so many bytes of a further one; nil behind a chunk, or where there
        /// are no samples.
        case behindData(torn: Int?)
    }

    package init() {}

    /// Whether the samples are of a kind that is read here.
    package var hasFormat: Bool { format != nil }

    /// Goes on behind whole frames, which so many bytes of a further one follow.
    package mutating func goOn(at offset: Int, torn: Int) {
        (hasSamples, oddity) = (true, nil)
        lookBehind(offset, torn: torn)
    }

    /// The warning for an error behind the first samples; nil at the file's end.
    package func leftOut(_ error: WAVError) -> String? {
        if case .endsInHeader = error { return nil }
        return "\(oddity ?? "goes on behind its sound"), which is left out: \(error)"
    }

    /// Takes exactly the wanted bytes, or fewer when the file ends here; `nil` when more is wanted.
    ///
    /// - Throws: `WAVError`; `endsInHeader` where nothing follows the last samples, too.
    mutating func take(_ bytes: Span<UInt8>) throws(WAVError) -> WAVHeader? {
        if case .behindData(let torn) = state { return try takeFollower(bytes, torn: torn) }
        guard bytes.count >= wantedByteCount else {
            throw .endsInHeader(byteCount: wantedOffset + bytes.count)
        }
        switch state {
        case .atStart:
            try takeStart(bytes)
        case .atChunk, .behindData:
            return try takeChunk(bytes.extracting(droppingFirst: skipPadding(bytes)))
        case .inFormat(let next):
            format = try WAVFormatChunk(bytes, at: wantedOffset)
            wantChunk(at: next)
        case .inSizes(let next):
            longDataByteCount = bytes.littleEndian(at: 8, byteCount: 8)
            wantChunk(at: next)
        }
        return nil
    }

    /// Takes what it wants from bytes that begin at `offset`; `nil` when more is wanted.
    package mutating func take(
        from bytes: Span<UInt8>, at offset: Int, isLast: Bool = false
    ) throws(WAVError) -> WAVHeader? {
        while true {
            let start = wantedOffset - offset
            guard isLast || start + wantedByteCount <= bytes.count else { return nil }
            guard start <= bytes.count else { throw .endsInHeader(byteCount: offset + bytes.count) }
            let wanted = bytes.extracting(start..<min(start + wantedByteCount, bytes.count))
            if let header = try take(wanted) { return header }
        }
    }

    private mutating func takeStart(_ bytes: Span<UInt8>) throws(WAVError) {
        let container = ChunkIdentifier(bytes, at: 0)
        guard [.riff, .rf64, .bw64].contains(container) else { throw .notRIFF(found: container) }
        let form = ChunkIdentifier(bytes, at: 8)
        guard form == .wave else { throw .notWAVE(found: form) }
        (format, longDataByteCount, chunkCount) = (nil, nil, 0)
        wantChunk(at: wantedOffset + 12)
    }

    /// Tells chunks, another file and more samples apart.
    private mutating func takeFollower(
        _ bytes: Span<UInt8>, torn: Int?
    ) throws(WAVError) -> WAVHeader? {
        let (start, end) = (wantedOffset, wantedOffset + bytes.count)
        wantedOffset += torn ?? 0
        wantedByteCount -= torn ?? 0
        let claimedEnd = wantedOffset
        var rest = bytes.extracting(droppingFirst: torn ?? 0)
        rest = rest.extracting(droppingFirst: skipPadding(rest))
        if WAVHeader.isContainer(rest), rest.count >= 12, ChunkIdentifier(rest, at: 8) == .wave {
            oddity = "holds another recording at byte \(wantedOffset)"
            try takeStart(rest)
            return nil
        }
        let isChunk = isChunk(rest, at: 0)
        if hasSamples {
            if isChunk { return try takeChunk(rest) }
            guard rest.count >= 12, !rest.isTag else { throw .endsInHeader(byteCount: end) }
            oddity =
                oddity ?? "goes on behind the end that its header gives, at byte \(claimedEnd)"
            // No padding stands within sound that goes on.
            if torn != nil { wantedOffset = start }
        }
        guard let format else { throw .dataBeforeFormat(offset: wantedOffset) }
        return WAVHeader(
            sampleFormat: format.sampleFormat, streamFormat: format.streamFormat,
            dataOffset: wantedOffset, dataByteCount: isChunk || rest.isEmpty ? 0 : nil,
            oddity: oddity)
    }

    /// The first byte behind an odd number of bytes is padding, or begins the next chunk.
    private mutating func skipPadding(_ bytes: Span<UInt8>) -> Int {
        guard wantedByteCount % 2 == 1, !bytes.isEmpty else { return 0 }
        if isChunk(bytes, at: 0) || WAVHeader.isContainer(bytes) {
            guard bytes.count > 4, ChunkIdentifier.usual.contains(ChunkIdentifier(bytes, at: 1))
            else { return 0 }
        }
        wantedOffset += 1
        return 1
    }

    private func isChunk(_ bytes: Span<UInt8>, at place: Int) -> Bool {
        guard bytes.count >= place + 8 else { return false }
        let chunk = ChunkIdentifier(bytes, at: place)
        return ChunkIdentifier.usual.contains(chunk)
            || chunk.isText
                && bytes.littleEndian(at: place + 4, byteCount: 4) <= Self.longestFollower
    }

    private mutating func lookBehind(_ offset: Int, torn: Int? = nil) {
        let end = offset + (torn ?? 0)
        want(.behindData(torn: torn), at: offset, byteCount: end + 12 + end % 2 - offset)
    }

    private mutating func takeChunk(_ bytes: Span<UInt8>) throws(WAVError) -> WAVHeader? {
        let chunk = ChunkIdentifier(bytes, at: 0)
        let byteCount = Int(bytes.littleEndian(at: 4, byteCount: 4))
        let offset = wantedOffset
        let next = offset + 8 + byteCount

        if chunk == .data {
            guard let format else { throw .dataBeforeFormat(offset: offset) }
            let count = dataByteCount(UInt64(byteCount))
            guard count != 0 else {
                // No sound, or as much as there is: what follows tells.
                want(.behindData(torn: nil), at: offset + 8, byteCount: 12)
                return nil
            }
            if hasSamples, oddity == nil {
                oddity = "has a second piece of audio at byte \(offset)"
            }
            return WAVHeader(
                sampleFormat: format.sampleFormat, streamFormat: format.streamFormat,
                dataOffset: offset + 8, dataByteCount: count, oddity: oddity)
        }

        chunkCount += 1
        guard chunkCount <= Self.maximumChunkCount else {
            throw .tooManyChunks(offset: offset, limit: Self.maximumChunkCount)
        }
        switch chunk {
        // The first one before the samples counts, as for other programs.
        case .format where format == nil || hasSamples:
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

    private func dataByteCount(_ claimed: UInt64) -> Int? {
        if claimed == 0xFFFF_FFFF, let longDataByteCount {
            let isKnown = longDataByteCount > 0 && longDataByteCount < UInt64(Int.max / 2)
            return isKnown ? Int(longDataByteCount) : nil
        }
        return Self.isPlaceholder(claimed) ? nil : Int(claimed)
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

    /// The next chunk, which some writers do not pad to an even place.
    private mutating func wantChunk(at offset: Int) {
        guard !hasSamples else { return lookBehind(offset) }
        want(.atChunk, at: offset, byteCount: 8 + offset % 2)
    }

    private mutating func want(_ state: State, at offset: Int, byteCount: Int) {
        self.state = state
        wantedOffset = offset
        wantedByteCount = byteCount
    }
}
