// SPDX-License-Identifier: Apache-2.0

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
