// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs

/// Takes a form apart while it comes (RFC 7578), and passes the bytes of its file on.
///
/// Of fields of text, those that say how the answer is wanted are kept. Cut anywhere; used on one thread.
struct FormReader {
    private enum Place {
        /// Before the first boundary, or in a field of text.
        case skipping
        case boundary
        /// In a field of text that is kept.
        case text(String)
        case head
        case file
        case end
    }

    private static let headLimit = 16 << 10

    private let delimiter: [UInt8]
    /// What has come and cannot be judged yet; the line break before the first boundary is ours.
    private var pending = Array("\r\n".utf8)
    private var place = Place.skipping

    private(set) var file: FormPartHead?
    /// Fields of text that say how the answer is wanted, up to 32 characters of each.
    private(set) var texts: [String: String] = [:]
    private static let keptNames: Set = ["response_format", "stream"]

    init(boundary: String) { delimiter = Array("\r\n--\(boundary)".utf8) }

    var isWhole: Bool { if case .end = place { true } else { false } }

    /// Takes bytes in, and appends those of the file.
    mutating func read(_ bytes: Span<UInt8>, into audio: inout [UInt8]) throws(UndecodableAudio) {
        for index in bytes.indices { pending.append(bytes[index]) }
        while try step(into: &audio) {}
    }

    /// Goes on to the next place; false when more bytes are needed.
    private mutating func step(into audio: inout [UInt8]) throws(UndecodableAudio) -> Bool {
        switch place {
        case .skipping, .file, .text:
            let end = pending.firstRange(of: delimiter)
            // The beginning of a boundary may be at the end of what is there.
            let count = end?.lowerBound ?? max(0, pending.count - delimiter.count + 1)
            if case .file = place { audio += pending[..<count] }
            if case .text(let name) = place {
                let text = (texts[name] ?? "") + String(decoding: pending[..<count], as: UTF8.self)
                texts[name] = String(text.prefix(32))
            }
            pending.removeFirst(end?.upperBound ?? count)
            if end != nil { place = .boundary }
            return end != nil
        case .boundary:
            guard pending.count >= 2 else { return false }
            guard pending.starts(with: "--".utf8) else {
                guard let line = pending.firstRange(of: Array("\r\n".utf8)) else {
                    return try bounded()
                }
                // The head's first field may be missing: its line break is then the blank line's.
                pending.removeFirst(line.lowerBound)
                place = .head
                return true
            }
            place = .end
            return true
        case .head:
            guard let blank = pending.firstRange(of: Array("\r\n\r\n".utf8)) else {
                return try bounded()
            }
            let head = FormPartHead(String(decoding: pending[..<blank.lowerBound], as: UTF8.self))
            pending.removeFirst(blank.upperBound)
            try begin(head)
            return true
        case .end:
            pending.removeAll()
            return false
        }
    }

    private mutating func begin(_ head: FormPartHead) throws(UndecodableAudio) {
        guard head.name == "file" || head.fileName != nil else {
            return place = Self.keptNames.contains(head.name) ? .text(head.name) : .skipping
        }
        guard file == nil else { throw UndecodableAudio("the form has two files") }
        file = head
        place = .file
    }

    private func bounded() throws(UndecodableAudio) -> Bool {
        guard pending.count <= Self.headLimit else {
            throw UndecodableAudio("the form has a part whose head is too long")
        }
        return false
    }
}
