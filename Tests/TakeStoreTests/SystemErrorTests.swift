// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import Testing

@Suite struct SystemErrorTests {
    @Test func anInterruptedCallIsRepeated() throws {
        var calls = 0
        try retryingInterrupts("fdatasync") { () -> Int32 in
            calls += 1
            errno = EINTR
            return calls == 3 ? 0 : -1
        }
        #expect(calls == 3)
    }

    @Test func anotherErrorIsNotRepeated() {
        var calls = 0
        #expect(throws: SystemError(call: "fdatasync", code: EIO)) {
            try retryingInterrupts("fdatasync") { () -> Int32 in
                calls += 1
                errno = EIO
                return -1
            }
        }
        #expect(calls == 1)
    }
}
