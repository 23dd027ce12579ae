// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What a process may still have of what the system counts.
package enum ProcessLimits {
    /// Whether so many descriptors can be had now.
    package static func areDescriptorsLeft(_ count: Int) -> Bool {
        let descriptors = (0..<count).map { _ in dup(STDERR_FILENO) }
        for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
        return descriptors.allSatisfy { $0 >= 0 }
    }

    /// The bytes of address space that the process may have; nil when there is no limit.
    ///
    /// The corresponding C constant is `RLIMIT_AS`.
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
