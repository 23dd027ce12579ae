// SPDX-License-Identifier: Apache-2.0

/// When the disk takes no more takes.
///
/// What waits for its answer is never dropped to make room: a new take is not kept then.
public struct SpoolLimits: Sendable, Equatable {
    /// The most takes that may wait for an answer with their audio.
    package var takes: Int
    /// The most bytes of audio that are kept; the take that passes this is still kept whole.
    package var bytes: Int
    /// The bytes of the file system that stay free.
    package var free: Int

    /// Creates limits.
    public init(takes: Int, bytes: Int, free: Int) {
        self.takes = takes
        self.bytes = bytes
        self.free = free
    }

    /// 1,000 takes, 4 GiB, and 64 MiB free.
    public static let standard = SpoolLimits(takes: 1_000, bytes: 4 << 30, free: 64 << 20)
}

package enum SpoolShortage: Sendable, Equatable, CustomStringConvertible {
    case takes(limit: Int)
    case bytes(Int, limit: Int)
    case free(Int, limit: Int)

    package var description: String {
        switch self {
        case .takes(let limit): "too many recordings wait already: \(limit) is the limit"
        case .bytes(let count, let limit):
            "takes fill \(Self.size(count)) already, and \(Self.typed(limit)) is the limit"
        case .free(let count, let limit):
            "the disk has only \(Self.size(count)) left, less than \(Self.typed(limit))"
        }
    }

    /// A limit as a person writes it: with the greatest unit of which it is a multiple.
    private static func typed(_ limit: Int) -> String {
        let units = [(40, "T"), (30, "G"), (20, "M"), (10, "k")]
        let unit = units.first { limit > 0 && limit % (1 << $0.0) == 0 }
        return unit.map { "\(limit >> $0.0)\($0.1)" } ?? "\(limit) bytes"
    }

    private static func size(_ count: Int) -> String {
        count < 10_000_000 ? "\(count / 1_000) kB" : "\(count / 1_000_000) MB"
    }
}
