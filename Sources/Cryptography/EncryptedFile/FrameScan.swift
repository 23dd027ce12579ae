// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// What an encrypted file holds, every frame of it decrypted and checked once.
///
/// Behind a part that was altered or damaged the file goes on where the header of the damaged frame
/// says that it ends, or else with the next block; the frame there tells exactly how much audio is
/// missing.
struct FrameScan {
    /// Which parts of the file are whole.
    private(set) var map: FrameMap
    private(set) var end: FramePosition
    private(set) var isMarked = false
    private var number: UInt32 = 0

    /// Reads the frames of a file of `size` bytes.
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

    /// Whether a header may stand behind the last whole frame.
    private func follows(_ header: FrameHeader) -> Bool {
        header.number > number && header.offset >= end.audio
    }

    private mutating func take(_ header: FrameHeader, at place: Int) {
        if place != FrameLayout.frameStart(end.file) || header.offset != end.audio {
            map.note(
                FrameDamage(
                    lost: end.audio..<header.offset, start: end.file, resumption: place))
        }
        number = header.number
        isMarked = header.isEnd
        end = FramePosition(
            file: place + header.frameByteCount, audio: header.offset + Int(header.length))
    }
}

/// Where a frame of an encrypted file begins.
struct FramePosition: Equatable {
    var file: Int
    var audio: Int
}

/// A part of the audio that was altered or damaged; a whole frame follows.
struct FrameDamage: Equatable {
    var lost: Range<Int>
    var start: Int
    /// Where the file goes on.
    var resumption: Int
}

/// Which stretches of an encrypted file are whole.
struct FrameMap {
    /// What lies between them, in order.
    private(set) var damage: [FrameDamage] = []

    /// Takes note of a loss behind those that are known.
    mutating func note(_ loss: FrameDamage) { damage.append(loss) }

    /// The loss that a byte of the audio is part of.
    func loss(at offset: Int) -> Range<Int>? {
        damage.first { $0.lost.contains(offset) }?.lost
    }

    /// The stretch of whole frames that holds a byte of the audio: its first frame, and where it
    /// ends in the file, which is nil for the last one.
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
