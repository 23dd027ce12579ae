// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The frames and the damage of an encrypted file, each frame decrypted and checked once.
///
/// Behind a part that was altered or damaged the file goes on where the header of the damaged frame
/// says that it ends, or else with the next block; the frame there tells exactly how much audio is
/// missing.
struct FrameScan {
    private(set) var map: FrameMap
    private(set) var end: FramePosition
    private(set) var isMarked = false
    private var number: UInt32 = 0

    init(_ reader: FrameReader, size: Int) throws(SystemError) {
        map = FrameMap()
        end = FramePosition(file: FrameLayout.start, audio: 0)
        var next = end.file
        while !isMarked {
            let place = FrameLayout.frameStart(next)
            guard place < size else { return }
            guard let header = try reader.header(at: place, end: size) else {
                next = FrameLayout.nextBlock(after: place)
                continue
            }
            if follows(header), reader.isIntact(header, at: place) { take(header, at: place) }
            next = place + header.frameByteCount
        }
    }

    private func follows(_ header: FrameHeader) -> Bool {
        header.number > number && header.offset >= end.audio
    }

    private mutating func take(_ header: FrameHeader, at place: Int) {
        if place != FrameLayout.frameStart(end.file) || header.offset != end.audio {
            map.damage.append(
                FrameDamage(
                    lost: end.audio..<header.offset, start: end.file, resumption: place))
        }
        number = header.number
        isMarked = header.isEnd
        end = FramePosition(
            file: place + header.frameByteCount, audio: header.offset + Int(header.length))
    }
}

struct FramePosition: Equatable {
    var file: Int
    var audio: Int
}

struct FrameDamage: Equatable {
    var lost: Range<Int>
    var start: Int
    var resumption: Int
}

struct FrameMap {
    /// In order.
    var damage: [FrameDamage] = []

    func loss(at offset: Int) -> Range<Int>? {
        damage.first { $0.lost.contains(offset) }?.lost
    }

    /// The first of the whole frames around a byte of the audio, and where they end in the file;
    /// nil for the last ones.
    func stretch(at offset: Int) -> (start: FramePosition, end: Int?) {
        let before = damage.lastIndex { $0.lost.upperBound <= offset }
        let start =
            before.map {
                FramePosition(file: damage[$0].resumption, audio: damage[$0].lost.upperBound)
            } ?? FramePosition(file: FrameLayout.start, audio: 0)
        let next = before.map { $0 + 1 } ?? 0
        return (start, next < damage.count ? damage[next].start : nil)
    }
}
