// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import TakeStore

@Suite struct MemoryFileTests {
    private func contents(of file: MemoryFile) throws -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1_000)
        while true {
            let count = try buffer.withUnsafeMutableBytes { try file.read(at: all.count, into: $0) }
            guard count > 0 else { return all }
            all += buffer[..<count]
        }
    }

    @Test func whatIsWrittenInPiecesIsReadInOrder() throws {
        var random = SeededRandom()
        let bytes = WAVBytes.pcm(random.noise(count: 100_000))
        let file = MemoryFile()
        for piece in random.pieces(of: bytes.count, upTo: 100_000) {
            try file.write(bytes.span.extracting(piece), at: piece.lowerBound)
        }
        #expect(try contents(of: file) == bytes, "seed \(random.seed)")
    }

    @Test func anEmptyFileIsAtItsEnd() throws {
        #expect(try contents(of: MemoryFile()).isEmpty)
    }
}
