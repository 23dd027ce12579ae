// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `CLOCK_MONOTONIC`, the clock of the virtual microphone, in ns.
func monotonicTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
