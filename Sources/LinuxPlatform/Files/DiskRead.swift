// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import Synchronization

/// A read of a file by a thread of its own, for a thread that serves others too: a disk may hang.
///
/// The thread has a descriptor of its own, and closes it: that, too, may wait for the disk.
package final class DiskRead: Sendable {
    /// Two seconds of speech: a thread costs little beside them.
    private static let byteCount = 1 << 16

    private let end: Wakeup
    private let outcome = Mutex<Result<[UInt8], SystemError>?>(nil)

    /// - Throws: `SystemError` when no descriptor or no thread is left.
    package init(of file: Int32, at offset: Int) throws(SystemError) {
        end = try Wakeup()
        let number = try retryingInterrupts("dup") { fcntl(file, F_DUPFD_CLOEXEC, 0) }
        do throws(SystemError) {
            _ = try NamedThread(name: "read") { [self] in
                let file = OwnedDescriptor(taking: number)
                let result = Result { () throws(SystemError) in
                    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
                    let count = try retryingInterrupts("pread") {
                        unsafe pread(file.number, &bytes, bytes.count, off_t(offset))
                    }
                    return Array(bytes.prefix(count))
                }
                outcome.withLock { $0 = result }
                end.signal()
            }
        } catch {
            _ = close(number)
            throw error
        }
    }

    /// To be polled: readable once the bytes are there.
    package var descriptor: Int32 { end.descriptor }

    /// The bytes that were there, none at the end of the file; nil while the thread reads.
    package var bytes: [UInt8]? {
        get throws(SystemError) { try outcome.withLock { $0 }?.get() }
    }

    /// Reads what the system has of a file in memory; nil where a disk would be waited for, or may be.
    package static func present(
        in file: Int32, at offset: Int, into bytes: inout [UInt8], _ room: Range<Int>
    ) -> Int? {
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe bytes.baseAddress.map {
                unsafe utter_read_present(file, $0 + room.lowerBound, room.count, off_t(offset))
            } ?? 0
        }
        return count < 0 ? nil : count
    }
}
