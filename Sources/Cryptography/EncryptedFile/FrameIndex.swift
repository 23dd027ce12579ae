// SPDX-License-Identifier: Apache-2.0

/// Where a frame of an encrypted file begins.
struct FramePosition: Equatable {
    /// Its first byte in the file.
    var file: Int
    /// Its first byte of audio.
    var audio: Int
}

/// A part of the audio that was altered or damaged; the next whole frame follows.
struct FrameDamage: Equatable {
    /// The bytes of audio that are lost.
    var lost: Range<Int>
    /// Where the file goes on, in bytes of the file.
    var resumption: Int
}

/// Some of the frames of an encrypted file, so that any offset is found after a few headers.
///
/// It holds at most 4,096 positions: when they are used up, every second one goes, and from then
/// on half as many are noted. An hour of 10 ms frames leaves 128 headers to be looked at.
struct FrameIndex {
    private static let limit = 4_096

    private var positions: [FramePosition] = []
    private var stride = 1
    private var count = 0
    /// What is lost, in order.
    private(set) var damage: [FrameDamage] = []

    /// Takes note of the next frame.
    mutating func note(_ position: FramePosition) {
        defer { count += 1 }
        guard count % stride == 0 else { return }
        if positions.count == Self.limit {
            positions = positions.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            stride *= 2
            guard count % stride == 0 else { return }
        }
        positions.append(position)
    }

    /// Takes note of a loss before the next frame.
    mutating func note(_ loss: FrameDamage) { damage.append(loss) }

    /// The last known frame that begins at or before a byte of the audio, with no damage between.
    func lastFrame(before offset: Int) -> FramePosition? {
        var (low, high) = (0, positions.count)
        while low < high {
            let middle = (low + high) / 2
            if positions[middle].audio <= offset { low = middle + 1 } else { high = middle }
        }
        let noted = low > 0 ? positions[low - 1] : nil
        let resumed = damage.last { $0.lost.upperBound <= offset }
            .map { FramePosition(file: $0.resumption, audio: $0.lost.upperBound) }
        guard let noted, let resumed else { return noted ?? resumed }
        return noted.audio < resumed.audio ? resumed : noted
    }

    /// The loss that a byte of the audio is part of.
    func loss(at offset: Int) -> Range<Int>? {
        damage.first { $0.lost.contains(offset) }?.lost
    }

    /// How many positions are held.
    var positionCount: Int { positions.count }
}
