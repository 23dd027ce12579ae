// SPDX-License-Identifier: Apache-2.0

/// The four bytes that name a RIFF chunk, such as `fmt ` or `data`.
package struct ChunkIdentifier: Sendable, Hashable {
    /// The bytes, the first one in the lowest place.
    let code: UInt32

    init(_ bytes: Span<UInt8>, at offset: Int) {
        code = UInt32(truncatingIfNeeded: bytes.littleEndian(at: offset, byteCount: 4))
    }

    private init(_ name: String) {
        var code: UInt32 = 0
        for (place, byte) in name.utf8.prefix(4).enumerated() {
            code |= UInt32(byte) << UInt32(8 * place)
        }
        self.code = code
    }

    static let riff = ChunkIdentifier("RIFF")
    static let rf64 = ChunkIdentifier("RF64")
    static let bw64 = ChunkIdentifier("BW64")
    static let rifx = ChunkIdentifier("RIFX")
    /// The beginning of a program of Linux.
    static let program = ChunkIdentifier("\u{7F}ELF")
    static let wave = ChunkIdentifier("WAVE")
    static let sizes = ChunkIdentifier("ds64")
    static let format = ChunkIdentifier("fmt ")
    static let data = ChunkIdentifier("data")
}

extension ChunkIdentifier: CustomStringConvertible {
    private var bytes: [UInt8] {
        (0..<UInt32(4)).map { UInt8(truncatingIfNeeded: code >> (8 * $0)) }
    }

    /// Whether all bytes are ASCII that stands in texts.
    var isText: Bool { bytes.allSatisfy { (0x20..<0x7F).contains($0) || (9...13).contains($0) } }

    /// The name in quotes; bytes that are not printable ASCII as `\x` and two hex digits.
    package var description: String {
        var text = "'"
        for byte in bytes {
            if (0x20..<0x7F).contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += byte < 16 ? "\\x0" : "\\x"
                text += String(byte, radix: 16, uppercase: true)
            }
        }
        return text + "'"
    }
}
