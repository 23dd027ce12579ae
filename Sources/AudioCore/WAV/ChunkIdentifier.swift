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
    static let wave = ChunkIdentifier("WAVE")
    static let sizes = ChunkIdentifier("ds64")
    static let format = ChunkIdentifier("fmt ")
    static let data = ChunkIdentifier("data")
}

extension ChunkIdentifier: CustomStringConvertible {
    /// The name in quotes; bytes that are not printable ASCII as `\x` and two hex digits.
    package var description: String {
        var text = "'"
        for place in 0..<UInt32(4) {
            let byte = UInt8(truncatingIfNeeded: code >> (8 * place))
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
