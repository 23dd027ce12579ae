// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// What the system writes to the disk when this process crashes: all of its memory.
package enum CoreDumps {
    /// Forbids them, and with them every other process to look into this one's memory.
    ///
    /// For a program alone, since it is for all of the process and cannot be undone. The
    /// corresponding C functions are `setrlimit` with `RLIMIT_CORE` and `prctl` with
    /// `PR_SET_DUMPABLE`.
    package static func forbid() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        // Lowering a limit cannot fail.
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        _ = utter_forbid_dumps()
    }
}
