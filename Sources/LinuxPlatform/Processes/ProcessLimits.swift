// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

package enum ProcessLimits {
    package static func areDescriptorsLeft(_ count: Int) -> Bool {
        let descriptors = (0..<count).map { _ in dup(STDERR_FILENO) }
        for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
        return descriptors.allSatisfy { $0 >= 0 }
    }

    /// In bytes; nil without a limit.
    package static var addressSpace: Int? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
            limit.rlim_cur != rlim_t.max
        else { return nil }
        return Int(clamping: limit.rlim_cur)
    }
}

extension SystemError {
    /// Whether a descriptor, memory or a thread could not be had; what was asked for may be
    /// there.
    package var isOfLimit: Bool {
        // Of other calls EAGAIN means that the same may succeed later.
        [EMFILE, ENFILE, ENOMEM].contains(code) || code == EAGAIN && call == Self.threadCall
    }

    static let threadCall = "pthread_create"
}

/// What the system writes to the disk when this process crashes: all of its memory.
package enum CoreDumps {
    /// Forbids them, and with them every other process to look into this one's memory.
    ///
    /// For a program alone, since it is for all of the process and cannot be undone.
    package static func forbid() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        // Lowering a limit cannot fail.
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        _ = utter_forbid_dumps()
    }
}
