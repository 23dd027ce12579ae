// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

extension ByteReader {
    /// Kinds of files that tell at their end where the sound is.
    static let kindsReadBackwards: Set = [
        "MP4 (M4A)", "QuickTime", "CAF", "AIFF", "Monkey's Audio", "WavPack", "True Audio",
        "Musepack", "DSD",
    ]

    private static let spoolLimit = 256 << 20

    /// A pipe that gets all bytes of the input, by a thread that ends with the input or the pipe's
    /// reader.
    consuming func feed() throws(SystemError) -> OwnedDescriptor {
        seekBehindUnread()
        let beginning = unread
        let source = try duplicate()
        let ends = try makePipe()
        let reading = OwnedDescriptor(taking: ends.reading)
        do throws(SystemError) {
            _ = try NamedThread(name: "feed") {
                let writing = OwnedDescriptor(taking: ends.writing)
                Self.copy(beginning, from: source.number, to: writing.number, limit: .max)
            }
        } catch {
            _ = Glibc.close(ends.writing)
            throw error
        }
        return reading
    }

    /// A file in memory with all bytes of the input; blocks until that has ended.
    ///
    /// - Throws: `SystemError`, `EFBIG` for more than 256 MiB.
    consuming func spool() throws(SystemError) -> OwnedDescriptor {
        seekBehindUnread()
        let source = try duplicate()
        let file = try makeMemoryFile()
        guard Self.copy(unread, from: source.number, to: file.number, limit: Self.spoolLimit) else {
            throw SystemError(call: "write", code: EFBIG)
        }
        return file
    }

    /// - Returns: whether the input has ended within the limit.
    @discardableResult
    private static func copy(
        _ beginning: [UInt8], from source: Int32, to end: Int32, limit: Int
    ) -> Bool {
        var (bytes, total) = (beginning[...], 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if bytes.isEmpty {
                var events = [
                    pollfd(fd: source, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: end, events: 0, revents: 0),
                ]
                _ = unsafe poll(&events, 2, -1)
                if events[1].revents != 0 { return false }
                // A failed read counts as the end.
                let count = try? retryingInterrupts("read") {
                    unsafe Glibc.read(source, &buffer, buffer.count)
                }
                guard let count, count > 0 else { return true }
                bytes = buffer[..<count]
            }
            let present = bytes
            // A program that has ended reads no more, and says why itself.
            let written = try? retryingInterrupts("write") {
                unsafe present.withUnsafeBytes { unsafe write(end, $0.baseAddress, $0.count) }
            }
            guard let written, total + written <= limit else { return false }
            bytes = bytes.dropFirst(written)
            total += written
        }
    }
}
