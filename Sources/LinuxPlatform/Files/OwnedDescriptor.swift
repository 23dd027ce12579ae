// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A file descriptor with one owner; `deinit` closes it.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// Valid while this value lives.
    package let number: Int32

    package init(taking number: Int32) { self.number = number }

    /// Takes what `open` returns; as `retryingInterrupts`.
    package init(of call: String, _ open: () -> Int32) throws(SystemError) {
        number = try retryingInterrupts(call, open)
    }

    /// Hands it over to a caller that closes it.
    package consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    package func duplicate() throws(SystemError) -> OwnedDescriptor {
        try OwnedDescriptor(of: "dup") { fcntl(number, F_DUPFD_CLOEXEC, 0) }
    }

    /// As many bytes as there are up to `limit`, behind the beginning of a file or before its end.
    package func bytes(limit: Int, beforeEnd: Bool = false) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        let start = beforeEnd ? lseek(number, 0, SEEK_END) - off_t(limit) : 0
        let count = unsafe pread(number, &buffer, limit, max(0, start))
        return Array(buffer.prefix(max(0, count)))
    }

    /// The last line that a program has written into a file.
    package var lastWords: String {
        let lines = bytes(limit: 2_048, beforeEnd: true).split(separator: 0x0A)
        return lines.last.map { TerminalText.excerpt(of: $0) } ?? ""
    }

    /// Closes it on a thread of its own, where close(2) may wait for a disk that hangs.
    package consuming func closeElsewhere() {
        let number = number
        // Without a thread left it is closed here.
        let thread = try? NamedThread(name: "close") { _ = Glibc.close(number) }
        if thread == nil { _ = consume self } else { discard self }
    }

    deinit {
        // An error of close(2) leaves nothing to be done: the descriptor is gone either way.
        _ = close(number)
    }
}

/// Not inherited by child processes; the caller closes both ends.
package func makePipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe utter_pipe(&ends) == 0 else { throw SystemError.last("pipe") }
    return (ends[0], ends[1])
}

/// Makes a file in memory that has no name, for a program to read or to write.
///
/// Unlike a pipe it takes everything at once, and does not break when one end closes early: a
/// program that goes on in the background may write to it for as long as it likes. It is read from
/// its start.
package func makeMemoryFile(_ bytes: [UInt8] = []) throws(SystemError) -> OwnedDescriptor {
    let file = try OwnedDescriptor(of: "memfd_create") { unsafe utter_memory_file("utter") }
    try writeAll(bytes.span, to: file.number, at: 0)
    return file
}

/// Makes a file on a disk that has no name any more, and goes with its last descriptor.
///
/// Unlike a file in memory it may be long.
package func makeTemporaryFile(in folder: String) throws(SystemError) -> OwnedDescriptor {
    let path = "\(folder)/utter-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
    let file = try OwnedDescriptor(of: "open") { unsafe open(path.cPath, flags, 0o600) }
    _ = unsafe unlink(path.cPath)
    return file
}

/// - Throws: `SystemError`; `EFBIG` when there are more than `limit` bytes.
package func readFile(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    let file = try OwnedDescriptor(of: "open") { unsafe open(path.cPath, O_RDONLY | O_CLOEXEC) }
    return try readAll(file.number, limit: limit)
}

/// Reads from the descriptor's position to its end; blocks, on a pipe until the writer closes it.
///
/// Each piece of a descriptor that does not block is awaited for `patience`; nil: for ever.
///
/// - Throws: `SystemError`; `EFBIG` when there are more than `limit` bytes, `ETIMEDOUT` when nothing
///   comes.
package func readAll(
    _ descriptor: Int32, limit: Int, patience: Duration? = nil,
    until isEnough: ([UInt8]) -> Bool = { _ in false }
) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(limit, 1 << 16) + 1)
    while !isEnough(bytes) {
        // A byte more than there should be tells that a file is too long.
        let wanted = min(buffer.count, limit + 1 - bytes.count)
        if let patience {
            let end = ContinuousClock.now + patience
            while !WorkerPause.until(end).wait(for: descriptor) {
                guard end > .now else { throw SystemError(call: "read", code: ETIMEDOUT) }
            }
        }
        let count = try retryingInterrupts("read") { unsafe read(descriptor, &buffer, wanted) }
        guard count > 0 else { return bytes }
        bytes += buffer[..<count]
        guard bytes.count <= limit else { throw SystemError(call: "read", code: EFBIG) }
    }
    return bytes
}
