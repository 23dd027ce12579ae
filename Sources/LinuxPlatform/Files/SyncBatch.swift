// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Syncs many files with one call, as `fdatasync` does each (io_submit(2), `IOCB_CMD_FDSYNC`).
///
/// The kernel syncs them side by side, and the file system writes its own journal once for all: 300
/// files take about twenty times as long one after another. Only the files that are named are
/// waited for. Used by one thread.
package final class SyncBatch {
    /// The most files of one call.
    private static let limit = 256

    /// The kernel's context; nil before the first call, and where the system has no such calls
    /// (before Linux 4.18), forbids them, or has no room left.
    private var context: aio_context_t?
    private var hasBegun = false

    package init() {}

    deinit { if let context { _ = utter_io_destroy(context) } }

    /// Blocks on the disk.
    ///
    /// - Returns: the errors of the first files, nil for each without one: of as many as the kernel
    ///   has taken, which may be none.
    package func sync(_ descriptors: [Int32]) -> [SystemError?] {
        var errors: [SystemError?] = []
        while errors.count < descriptors.count {
            let some = syncSome(descriptors[errors.count...].prefix(Self.limit))
            if some.isEmpty { break }
            errors += some
        }
        return errors
    }

    private func syncSome(_ descriptors: ArraySlice<Int32>) -> [SystemError?] {
        begin()
        guard let context else { return [] }
        var requests = descriptors.enumerated().map { index, descriptor in
            var request = iocb()
            request.aio_data = UInt64(index)
            request.aio_lio_opcode = UInt16(IOCB_CMD_FDSYNC)
            request.aio_fildes = UInt32(descriptor)
            return request
        }
        let count = unsafe requests.withUnsafeMutableBufferPointer { requests in
            var list = unsafe requests.indices.map { unsafe requests.baseAddress?.advanced(by: $0) }
            return unsafe utter_io_submit(context, list.count, &list)
        }
        guard count > 0 else { return [] }
        var errors = [SystemError?](repeating: nil, count: count)
        var events = [io_event](repeating: io_event(), count: count)
        var left = count
        while left > 0 {
            let came = unsafe utter_io_getevents(context, 1, left, &events)
            // Interrupted; no other failure is known of a context that stands.
            guard came > 0 else { continue }
            for event in events.prefix(came) where event.res < 0 {
                errors[Int(event.data)] = SystemError(call: "fdatasync", code: Int32(-event.res))
            }
            left -= came
        }
        return errors
    }

    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        var context: aio_context_t = 0
        if unsafe utter_io_setup(UInt32(Self.limit), &context) == 0 { self.context = context }
    }
}
