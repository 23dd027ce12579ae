// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

struct FileOperation: Sendable {
    let number: Int
    /// What was done, such as "write" or "fdatasync".
    let name: String
    let thread: String
    let result: Int
    let error: Int32
    let path: String
    let other: String?
    /// Where a write begins, how long a truncated file is, or the flags.
    let offset: Int
    /// How many bytes were to be written or read.
    let length: Int
    let bytes: [UInt8]
    /// When it was called, and when it returned, by one clock: what lies between includes waiting
    /// for the operations of other threads.
    let time: Range<Duration>

    private init?(line: UnsafeRawBufferPointer) {
        let pieces = Self.pieces(of: line, at: "\t")
        let words = pieces.map { $0.count < 4_096 ? String(decoding: $0, as: UTF8.self) : "" }
        guard words.count == 12, let number = Int(words[0]), let result = Int(words[3]),
            let error = Int32(words[4]), let offset = Int(words[7]), let length = Int(words[8]),
            let begin = Int64(words[10]), let end = Int64(words[11]), begin <= end
        else { return nil }
        self.number = number
        name = words[1]
        thread = words[2]
        self.result = result
        self.error = error
        path = words[5]
        other = words[6] == "-" ? nil : words[6]
        self.offset = offset
        self.length = length
        bytes = Data(base64Encoded: Data(pieces[9])).map { Array($0) } ?? []
        time = .nanoseconds(begin) ..< .nanoseconds(end)
    }

    static func trace(_ text: [UInt8]) -> [FileOperation] {
        text.withUnsafeBytes { text in
            pieces(of: text, at: "\n").compactMap { FileOperation(line: $0) }
        }
    }

    /// Finds what lies between these characters; without optimisation `split` takes seconds for a trace.
    private static func pieces(
        of text: UnsafeRawBufferPointer, at separator: Unicode.Scalar
    ) -> [UnsafeRawBufferPointer] {
        var (pieces, rest) = ([UnsafeRawBufferPointer](), text)
        while let start = rest.baseAddress,
            let end = memchr(start, Int32(separator.value), rest.count)
        {
            let length = UnsafeRawPointer(end) - start
            pieces.append(UnsafeRawBufferPointer(rebasing: rest[..<length]))
            rest = UnsafeRawBufferPointer(rebasing: rest[(length + 1)...])
        }
        return pieces + [rest]
    }

    /// What was done to which file: what tells operations that are alike from others.
    var place: String { name + " " + path }

    /// Whether it leaves something on the disk that was not there before, or makes it durable.
    var isChange: Bool {
        result >= 0 && !["open", "read", "stat", "statfs", "list"].contains(name)
    }

}

extension [FileOperation] {
    /// What the program has written to the audio of each take, by the take's id.
    ///
    /// Nothing else is asked of the names but that a take's folder holds a file `audio…`.
    var writtenAudio: [String: [UInt8]] {
        var audio: [String: [UInt8]] = [:]
        for operation in self where operation.name == "write" && operation.result > 0 {
            let parts = operation.path.split(separator: "/")
            guard let name = parts.last, name.hasPrefix("audio."), parts.count > 1 else { continue }
            audio[String(parts[parts.count - 2]), default: []]
                .overwrite(at: operation.offset, with: operation.bytes)
        }
        return audio
    }
}

extension [UInt8] {
    /// Writes as `pwrite` does: what is skipped is zero.
    mutating func overwrite(at offset: Int, with bytes: [UInt8]) {
        let end = offset + bytes.count
        if count < end { append(contentsOf: [UInt8](repeating: 0, count: end - count)) }
        // Without optimisation `replaceSubrange` takes one byte after the other.
        withUnsafeMutableBytes { all in
            bytes.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: all[offset..<end]).copyMemory(from: $0)
            }
        }
    }
}
