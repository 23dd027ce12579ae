// SPDX-License-Identifier: Apache-2.0

/// The bytes that tell what a file is; a file of each kind has them at the same place.
enum InputSignature {
    /// The bytes by their Unicode scalars, and where they stand if not at the beginning.
    private typealias Row = (name: String, bytes: String, offset: Int)

    /// Four bytes and more tell these kinds from anything that a microphone says.
    private static let sounds: [Row] = [
        ("AIFF", "FORM", 0), ("AMR", "#!AMR", 0), ("iLBC", "#!iLBC", 0), ("AU", ".snd", 0),
        ("AU", "dns.", 0), ("CAF", "caff", 0), ("WebM (Matroska)", "\u{1A}E\u{DF}\u{A3}", 0),
        ("WMA", "0&\u{B2}u", 0), ("Wave64", "riff.\u{91}\u{CF}\u{11}", 0),
        ("Monkey's Audio", "MAC ", 0), ("WavPack", "wvpk", 0), ("True Audio", "TTA1", 0),
        ("Musepack", "MPCK", 0), ("Musepack", "MP+\u{7}", 0), ("FLV", "FLV\u{1}", 0),
        ("an MPEG program stream", "\0\0\u{1}\u{BA}", 0), ("DTS", "\u{7F}\u{FE}\u{80}\u{1}", 0),
        ("RealMedia", ".RMF", 0), ("NIST Sphere", "NIST_1A", 0), ("VOC", "Creative", 0),
        ("DSD", "DSD ", 0), ("AC-3", "\u{B}w", 0), ("MP4 (M4A)", "ftyp", 4),
        ("QuickTime", "moov", 4), ("QuickTime", "mdat", 4), ("QuickTime", "wide", 4),
    ]

    private static let others: [Row] = [
        ("a PDF document", "%PDF", 0), ("a program", "\u{7F}ELF", 0),
        ("a zip archive or an office document", "PK\u{3}\u{4}", 0),
        ("packed by gzip", "\u{1F}\u{8B}\u{8}", 0), ("packed by bzip2", "BZh", 0),
        ("packed by xz", "\u{FD}7zXZ", 0), ("packed by zstd", "(\u{B5}/\u{FD}", 0),
        ("packed by lz4", "\u{4}\"M\u{18}", 0), ("a 7z archive", "7z\u{BC}\u{AF}", 0),
        ("a RAR archive", "Rar!", 0), ("a package", "!<arch>", 0),
        ("a package", "\u{ED}\u{AB}\u{EE}\u{DB}", 0),
        ("a picture", "\u{89}PNG", 0), ("a picture", "\u{FF}\u{D8}\u{FF}", 0),
        ("a picture", "GIF8", 0), ("a picture", "II*\0", 0), ("a picture", "MM\0*", 0),
        ("a picture", "8BPS", 0), ("a picture", "WEBP", 8), ("a picture", "ftypheic", 4),
        ("a picture", "ftypavif", 4), ("a picture", "ftypmif1", 4),
        ("a database", "SQLite format 3", 0), ("a document", "\u{D0}\u{CF}\u{11}\u{E0}", 0),
        ("a program", "\u{CA}\u{FE}\u{BA}\u{BE}", 0), ("a program", "\0asm", 0),
        ("MIDI, which has notes and not sound", "MThd", 0), ("encrypted by utter", "utterenc", 0),
    ]

    private static let rows: [(bytes: [UInt8], offset: Int, type: InputType)] =
        others.map { (bytes($0), $0.offset, .notSound($0.name)) }
        + sounds.map { (bytes($0), $0.offset, .foreign($0.name)) }

    private static func bytes(_ row: Row) -> [UInt8] {
        row.bytes.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }

    /// Returns nil when no signature fits.
    static func first(in bytes: Span<UInt8>) -> InputType? {
        guard let row = rows.first(where: { bytes.has($0.bytes, at: $0.offset) }) else {
            return nil
        }
        // The first two bytes alone may be a loud sample: the stream's number must be possible, too.
        guard row.type == .foreign("AC-3") else { return row.type }
        guard bytes.count > 5 else { return nil }
        return bytes[4] >> 6 < 3 && bytes[5] >> 3 <= 16 ? row.type : nil
    }
}

/// Tells text from samples.
enum PlainText {
    /// Loud samples may look like a few letters, but not like this many.
    private static let enough = 64

    /// Where the archives of tar say what they are, behind a name.
    private static let archiveMark = (text: "ustar", end: 262)

    /// Text, an archive that begins with the name of a file, or unknown.
    static func type(of bytes: Span<UInt8>) -> InputType {
        guard isText(bytes.extracting(first: 8)) else { return .unknown }
        let isText = isText(bytes.extracting(first: enough))
        guard bytes.count >= enough else {
            return .undecided(byteCount: enough, isText ? .notSound(name(of: bytes)) : .unknown)
        }
        if isText { return .notSound(name(of: bytes)) }
        guard bytes.count >= archiveMark.end else {
            return .undecided(byteCount: archiveMark.end, .unknown)
        }
        return bytes.has(archiveMark.text.utf8, at: archiveMark.end - 5)
            ? .notSound("a tar archive") : .unknown
    }

    /// UTF-8 without control characters, which may be cut in its last character; or UTF-16 of ASCII
    /// behind its mark.
    private static func isText(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count > 0 else { return false }
        let all = bytes.indices.map { bytes[$0] }
        if [[0xFF, 0xFE], [0xFE, 0xFF]].contains(Array(all.prefix(2))), all.count >= 8 {
            let units = all.dropFirst(2)
            let isLittle = all[0] == 0xFF
            return units.indices.allSatisfy { index in
                let isLetter = (index % 2 == 0) == isLittle
                return isLetter ? isPrintable(units[index]) : units[index] == 0
            }
        }
        guard all.allSatisfy({ isPrintable($0) || $0 >= 0x80 }) else { return false }
        // A character has four bytes at most.
        return (0..<min(4, all.count)).contains {
            String(validating: all.dropLast($0), as: UTF8.self) != nil
        }
    }

    private static func isPrintable(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) || (8...13).contains(byte) || byte == 0x1B
    }

    private static func name(of bytes: Span<UInt8>) -> String {
        let names = [
            ("<!doctype html", "a web page (HTML)"), ("<html", "a web page (HTML)"), ("<", "XML"),
            ("{", "JSON"), ("#!", "a script"), ("#extm3u", "a playlist"),
        ]
        let text = String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            .drop { $0.isWhitespace || $0 == "\u{FEFF}" }.lowercased()
        return names.first { text.hasPrefix($0.0) }?.1 ?? "text"
    }
}
