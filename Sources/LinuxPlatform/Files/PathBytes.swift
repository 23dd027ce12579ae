// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Names of files, which to the kernel are bytes of any kind (path_resolution(7)).
///
/// A `String` holds a byte that is not UTF-8 as a character of its own: U+10FF80 to U+10FFFF stand
/// for the bytes 80 to FF. Where a name holds such a character, so do its bytes: no two names are one.
extension String {
    private static let marks: ClosedRange<UInt32> = 0x10FF80...0x10FFFF

    /// The name or word that ends with a zero.
    package init(cPath: UnsafePointer<CChar>) {
        func text(_ bytes: some Sequence<UInt8>) -> String? {
            let text = String(validating: bytes, as: UTF8.self)
            return text?.unicodeScalars.contains { Self.marks.contains($0.value) } == false
                ? text : nil
        }
        let name = unsafe UnsafeBufferPointer(start: cPath, count: strlen(cPath))
        let bytes = unsafe name.map { UInt8(bitPattern: $0) }
        self = text(bytes) ?? ""
        var rest = isEmpty ? bytes[...] : []
        while let first = rest.first {
            let piece = (1...4).lazy.compactMap { text(rest.prefix($0)) }.first
            self += piece ?? Unicode.Scalar(UInt32(first) + 0x10FF00).map { "\($0)" } ?? ""
            rest = rest.dropFirst(piece?.utf8.count ?? 1)
        }
    }

    /// The bytes of the name.
    package var pathBytes: [UInt8] {
        unicodeScalars.flatMap { scalar in
            Self.marks.contains(scalar.value) ? [UInt8(scalar.value & 0xFF)] : Array(scalar.utf8)
        }
    }

    /// The path without links, of what is there (realpath(3)); nil when nothing is.
    package var resolvedPath: String? {
        let resolved = unsafe realpath(cPath, nil)
        defer { unsafe free(resolved) }
        return unsafe resolved.map { unsafe String(cPath: $0) }
    }

    /// The same for C, with the zero behind them.
    package var cPath: [CChar] { pathBytes.map { CChar(bitPattern: $0) } + [0] }
}
