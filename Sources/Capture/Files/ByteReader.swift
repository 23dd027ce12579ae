// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Buffered bytes of a file, a pipe or a terminal, read without ever waiting for them.
///
/// A regular file is read by offset, so that the descriptor's own offset, which others may share,
/// stays where it is: at once as far as the system has it in memory, otherwise by a thread
/// (`DiskRead`), unless this one `mayWait`. Anything else is polled before each read, because
/// `O_NONBLOCK` would stay set for every process that shares the descriptor.
struct ByteReader: ~Copyable {
    enum Fill {
        case filled
        /// Poll `awaited`.
        case notYet
        case ended
    }

    let descriptor: Int32

    /// Bytes of a regular file when it was opened; nil for a pipe.
    let fileByteCount: Int?
    private(set) var position = 0

    /// Whether a file's disk may be waited for, as on the thread that opens it.
    var mayWait = true

    private let name: String
    private let owned: OwnedDescriptor?
    private let fileOffset: Int
    private var buffer: [UInt8]
    private var start = 0
    private var end = 0
    private var reading: DiskRead?
    /// Whether a thread has ever read for it.
    private var wasLate = false

    /// Does not wait for a FIFO's writer: until one has come, the FIFO is not readable.
    init(opening path: String) throws(CaptureError) {
        let number = unsafe open(path.cPath, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else {
            let error = SystemError.last("open")
            if error.isOfLimit { throw .limitReached(name: path, error) }
            throw error.code == EACCES || error.code == EPERM
                ? .fileForbidden(path: path) : .cannotOpen(name: path, reason: error.reason)
        }
        try self.init(
            descriptor: number, owned: OwnedDescriptor(taking: number), name: path, prefix: [])
    }

    /// `prefix` was read from the descriptor before; the caller closes the descriptor after this
    /// reader is gone.
    init(descriptor: Int32, name: String, prefix: [UInt8]) throws(CaptureError) {
        try self.init(descriptor: descriptor, owned: nil, name: name, prefix: prefix)
    }

    private init(
        descriptor: Int32, owned: consuming OwnedDescriptor?, name: String, prefix: [UInt8]
    ) throws(CaptureError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw .cannotOpen(name: name, reason: SystemError.last("fstat").reason)
        }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw .cannotOpen(name: name, reason: "it is a folder") }
        self.descriptor = descriptor
        self.owned = owned
        self.name = name
        if kind == S_IFREG {
            fileOffset = max(0, lseek(descriptor, 0, SEEK_CUR) - prefix.count)
            fileByteCount = max(0, Int(status.st_size) - fileOffset)
            buffer = []
        } else {
            (fileOffset, fileByteCount) = (0, nil)
            buffer = prefix
            end = prefix.count
        }
    }

    var byteCount: Int { end - start }

    /// The bytes that were read and not consumed.
    var unread: [UInt8] { Array(buffer[start..<end]) }

    /// To be polled before the next read; nil where none has to wait.
    var awaited: Int32? { fileByteCount == nil ? descriptor : reading?.descriptor }

    /// Never waits, as close(2) may for the disk of a file.
    consuming func close() {
        guard wasLate, let file = owned else { return }
        file.closeElsewhere()
    }

    /// Whether any other reader of the same file finds the same bytes.
    var isWholeFile: Bool { fileByteCount != nil && fileOffset == 0 }

    func duplicate() throws(SystemError) -> OwnedDescriptor {
        let descriptor = descriptor
        return try OwnedDescriptor(of: "dup") { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
    }

    /// Moves the offset of a file that others read on from.
    func seekBehindUnread() {
        if fileByteCount != nil {
            lseek(descriptor, off_t(fileOffset + position + byteCount), SEEK_SET)
        }
    }

    mutating func fill(_ wanted: Int) throws(SystemError) -> Fill {
        buffer += [UInt8](repeating: 0, count: max(0, wanted - buffer.count))
        if start == end || start + wanted > buffer.count { moveToFront() }
        while byteCount < wanted {
            if fileByteCount == nil, try !isReadable() { return .notYet }
            guard let count = try readOnce(to: wanted) else { return .notYet }
            guard count > 0 else { return .ended }
            end += count
        }
        return .filled
    }

    /// As `fill`, behind the header.
    mutating func readOn(_ wanted: Int) throws(CaptureError) -> Fill {
        do throws(SystemError) {
            return try fill(wanted)
        } catch {
            throw .readFailed(name: name, reason: error.reason)
        }
    }

    /// Blocks until `step` has its bytes or the input has ended.
    ///
    /// - Throws: `CaptureError.cannotOpen` with the name and what has not come by `deadline`.
    mutating func wait(
        for what: String, until deadline: ContinuousClock.Instant,
        _ step: (inout ByteReader) throws(SystemError) -> Fill
    ) throws(CaptureError) {
        do throws(SystemError) {
            while case .notYet = try step(&self) {
                let left = (deadline - .now) / .milliseconds(1)
                guard left > 0 else { throw SystemError(call: "poll", code: ETIMEDOUT) }
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                try retryingInterrupts("poll") { unsafe poll(&request, 1, Int32(left) + 1) }
            }
        } catch {
            throw .cannotOpen(
                name: name, reason: error.code == ETIMEDOUT ? "\(what) came in time" : error.reason)
        }
    }

    mutating func consume(_ count: Int) {
        start += count
        position += count
    }

    func withBytes<Result, Failure: Error>(
        _ count: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(buffer.span.extracting(start..<start + count))
    }

    private mutating func moveToFront() {
        guard start > 0 else { return }
        let count = byteCount
        let from = start
        for index in 0..<count { buffer[index] = buffer[from + index] }
        (start, end) = (0, count)
    }

    /// Reads ahead from files; never from a pipe, where bytes that are read too far would be lost.
    ///
    /// - Returns: 0 at the end; `nil` while a thread reads, or when another process made the descriptor
    ///   non-blocking and took the bytes first.
    private mutating func readOnce(to wanted: Int) throws(SystemError) -> Int? {
        let room = end..<(fileByteCount == nil ? start + wanted : buffer.count)
        guard fileByteCount != nil, !mayWait else { return try readWaiting(into: room) }
        if let read = reading {
            guard let bytes = try read.bytes else { return nil }
            reading = nil
            buffer.replaceSubrange(room, with: bytes)
            buffer += [UInt8](repeating: 0, count: max(0, room.count - bytes.count))
            return bytes.count
        }
        let offset = offset
        if let count = DiskRead.present(in: descriptor, at: offset, into: &buffer, room) {
            return count
        }
        // Without a descriptor or a thread left it is read here.
        reading = try? DiskRead(of: descriptor, at: offset)
        wasLate = wasLate || reading != nil
        return reading == nil ? try readWaiting(into: room) : nil
    }

    /// The place in the file of the first byte that is not in the buffer.
    private var offset: Int { fileOffset + position + byteCount }

    private mutating func readWaiting(into room: Range<Int>) throws(SystemError) -> Int? {
        let place = fileByteCount == nil ? nil : off_t(offset)
        let descriptor = descriptor
        do throws(SystemError) {
            return try unsafe buffer.withUnsafeMutableBufferPointer {
                bytes throws(SystemError) in
                let part = unsafe UnsafeMutableBufferPointer(rebasing: bytes[room])
                return try retryingInterrupts(place == nil ? "read" : "pread") {
                    if let place {
                        return unsafe pread(descriptor, part.baseAddress, part.count, place)
                    }
                    return unsafe read(descriptor, part.baseAddress, part.count)
                }
            }
        } catch {
            guard error.code == EAGAIN else { throw error }
            return nil
        }
    }

    /// Whether a read returns at once: with bytes, the end or an error.
    private func isReadable() throws(SystemError) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return try retryingInterrupts("poll") { unsafe poll(&request, 1, 0) } > 0
    }
}
