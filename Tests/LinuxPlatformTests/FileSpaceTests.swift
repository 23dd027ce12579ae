// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import LinuxPlatform

@Suite struct FileSpaceTests {
    @Test(
        arguments: [
            (0, 4_096, 0), (10, 4_096, 40_960), (UInt.max, 4_096, Int.max), (UInt.max, 1, Int.max),
            (1 << 52, 4_096, Int.max),
        ] as [(UInt, UInt, Int)])
    func roomOfAnySizeIsCounted(_ blocks: UInt, _ size: UInt, _ bytes: Int) {
        var status = statvfs()
        (status.f_bavail, status.f_frsize) = (blocks, size)
        #expect(status.freeByteCount == bytes)
    }
}
