// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// Reads what stands before the frames of a FLAC file (RFC 9639 §8) while it comes.
///
/// Only STREAMINFO is kept: pictures and comments are skipped without a copy.
struct FLACHeader {
    struct StreamInfo: Equatable {
        /// The block's 34 bytes.
        var bytes: [UInt8]

        var format: StreamFormat {
            StreamFormat(
                sampleRate: Int(bytes[10]) << 12 | Int(bytes[11]) << 4 | Int(bytes[12]) >> 4,
                channelCount: Int(bytes[12] >> 1 & 7) + 1)
        }

        /// Whether all frames but the last have one size, of 16 kHz mono as we write it.
        var isOfStream: Bool {
            format == .speech && bytes[0..<2] == bytes[2..<4] && bytes[0..<2] != [0, 0]
        }

        /// Samples per channel in the whole file; nil when they are not known.
        var sampleCount: Int? {
            let count = bytes[14..<18].reduce(Int(bytes[13] & 15)) { $0 << 8 | Int($1) }
            return count == 0 ? nil : count
        }
    }

    private static let streamInfoByteCount = 34

    /// The block of a file of ours, behind `fLaC` and its own head.
    static func streamInfo(in file: [UInt8]) -> [UInt8] {
        Array(file[8..<(8 + streamInfoByteCount)])
    }

    /// Where a file of ours says how many samples it has: 36 bits, behind the last four of the bits
    /// per sample.
    static let sampleCountPlace = 21..<26

    /// The field's bytes; 0 stands for an unknown number, and for one that needs more than 36 bits.
    static func sampleCountBytes(_ count: Int) -> [UInt8] {
        let count = count < 1 << 36 ? count : 0
        // 16 bits per sample are written as 15.
        return stride(from: 32, through: 0, by: -8).map { shift in
            UInt8(truncatingIfNeeded: count >> shift) | (shift == 32 ? 0xF0 : 0)
        }
    }

    /// Bytes that may stand before the file.
    private let longestPrefix: Int
    private var prefixByteCount = 0
    private var magic: [UInt8] = []
    /// The head of the block that is being read: whether it is the last, its type, its length.
    private var blockHead: [UInt8] = []
    private var blockRest = 0
    private var isLastBlock = false
    private var content: [UInt8] = []

    private(set) var streamInfo: StreamInfo?
    private(set) var byteCount = 0
    private(set) var isComplete = false

    init(longestPrefix: Int = 0) { self.longestPrefix = longestPrefix }

    /// Takes bytes in, up to the end of the header, and returns how many belong to it.
    mutating func take(_ bytes: Span<UInt8>) throws(UndecodableAudio) -> Int {
        var index = 0
        while index < bytes.count, !isComplete {
            if magic.count < 4 {
                magic.append(bytes[index])
                index += 1
                guard !"fLaC".utf8.starts(with: magic) else { continue }
                prefixByteCount += 1
                guard prefixByteCount <= longestPrefix else {
                    throw UndecodableAudio("FLAC: it does not begin with 'fLaC'")
                }
                // No letter of the name comes twice.
                magic = magic.last == UInt8(ascii: "f") ? [UInt8(ascii: "f")] : []
            } else if blockHead.count < 4 {
                blockHead.append(bytes[index])
                index += 1
                if blockHead.count == 4 { try beginBlock() }
            } else {
                let part = bytes.extracting(index..<min(bytes.count, index + blockRest))
                if streamInfo == nil { for byte in part.indices { content.append(part[byte]) } }
                blockRest -= part.count
                index += part.count
            }
            if blockHead.count == 4, blockRest == 0 { try endBlock() }
        }
        byteCount += index
        return index
    }

    private mutating func beginBlock() throws(UndecodableAudio) {
        isLastBlock = blockHead[0] & 0x80 != 0
        blockRest = Int(blockHead[1]) << 16 | Int(blockHead[2]) << 8 | Int(blockHead[3])
        let type = blockHead[0] & 0x7F
        if streamInfo == nil {
            guard type == 0, blockRest == Self.streamInfoByteCount else {
                throw UndecodableAudio("FLAC: its first block is not STREAMINFO")
            }
        } else if type == 0 || type == 127 {
            throw UndecodableAudio("FLAC: a block before the audio is damaged")
        }
    }

    private mutating func endBlock() throws(UndecodableAudio) {
        if streamInfo == nil {
            let info = StreamInfo(bytes: content)
            guard WAVHeader.sampleRates.contains(info.format.sampleRate) else {
                throw UndecodableAudio("FLAC: its rate is \(info.format.sampleRate) Hz")
            }
            streamInfo = info
        }
        blockHead = []
        isComplete = isLastBlock
    }
}
