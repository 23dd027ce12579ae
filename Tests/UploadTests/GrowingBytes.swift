// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import LinuxPlatform
@testable import Upload

/// A recording in memory, which grows when the test says so.
final class GrowingBytes: BodySource {
    private struct State {
        var bytes: [UInt8] = []
        var isSealed = false
    }

    private let state = Mutex(State())
    /// The most bytes of one read.
    private let pieceLimit: Int

    init(_ bytes: [UInt8] = [], isSealed: Bool = false, pieceLimit: Int = .max) {
        self.pieceLimit = pieceLimit
        append(bytes)
        if isSealed { seal() }
    }

    func append(_ bytes: some Sequence<UInt8> & Sendable) {
        state.withLock { $0.bytes += bytes }
    }

    func seal() { state.withLock { $0.isSealed = true } }

    var byteCount: Int { state.withLock { $0.bytes.count } }
    var isComplete: Bool { state.withLock { $0.isSealed } }

    func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let piece = state.withLock { state in
            Array(state.bytes.dropFirst(offset).prefix(min(buffer.count, pieceLimit)))
        }
        buffer.copyBytes(from: piece)
        return piece.count
    }
}

extension RequestBody {
    /// Reads what is there from an offset on, in pieces of at most `limit` bytes.
    func bytes(from start: Int = 0, by limit: Int = 4_096) throws -> (bytes: [UInt8], last: Read) {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: limit)
        while true {
            let found = try buffer.withUnsafeMutableBytes {
                try read(at: start + all.count, into: $0)
            }
            guard case .bytes(let count) = found else { return (all, found) }
            all += buffer[..<count]
        }
    }
}
