// SPDX-License-Identifier: Apache-2.0

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

    init?(line: Substring) {
        let words = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard words.count == 12, let number = Int(words[0]), let result = Int(words[3]),
            let error = Int32(words[4]), let offset = Int(words[7]), let length = Int(words[8]),
            let begin = Int64(words[10]), let end = Int64(words[11]), begin <= end
        else { return nil }
        self.number = number
        name = String(words[1])
        thread = String(words[2])
        self.result = result
        self.error = error
        path = String(words[5])
        other = words[6] == "-" ? nil : String(words[6])
        self.offset = offset
        self.length = length
        bytes = words[9] == "-" ? [] : Self.bytes(words[9])
        time = .nanoseconds(begin) ..< .nanoseconds(end)
    }

    static func trace(_ text: [UInt8]) -> [FileOperation] {
        String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap {
            FileOperation(line: $0)
        }
    }

    /// What was done to which file: what tells operations that are alike from others.
    var place: String { name + " " + path }

    /// Whether it leaves something on the disk that was not there before, or makes it durable.
    var isChange: Bool {
        result >= 0 && !["open", "read", "stat", "statfs", "list"].contains(name)
    }

    private static func bytes(_ digits: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.utf8.count / 2)
        var high: UInt8?
        for digit in digits.utf8 {
            let value = digit < 0x61 ? digit - 0x30 : digit - 0x61 + 10
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
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
        replaceSubrange(offset..<end, with: bytes)
    }
}
