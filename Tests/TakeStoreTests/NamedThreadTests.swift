// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform

@Suite struct NamedThreadTests {
    @Test func theThreadHasItsNameAndIsJoined() throws {
        let name = Mutex("")
        let thread = try NamedThread(name: "fifteen-letters") {
            // Always there.
            let bytes = (try? readFile("/proc/thread-self/comm")) ?? []
            name.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
        }
        thread.join()
        #expect(name.withLock { $0 } == "fifteen-letters\n")
    }

    @Test func signalsAreBlockedAndFaultsAreNot() throws {
        let blocked = Mutex<Set<Int32>>([])
        let thread = try NamedThread(name: "test") {
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            let members = (1...31).map { Int32($0) }.filter { sigismember(&mask, $0) == 1 }
            blocked.withLock { $0 = Set(members) }
        }
        thread.join()
        let members = blocked.withLock { $0 }
        #expect(
            members.isSuperset(of: [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, SIGCHLD, SIGWINCH]))
        #expect(members.isDisjoint(with: [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT]))
    }

    @Test func anInterruptedCallIsRepeatedAndOthersAreErrors() throws {
        var calls = 0
        let value = try retryingInterrupts("call") { () -> Int32 in
            calls += 1
            errno = EINTR
            return calls < 3 ? -1 : 7
        }
        #expect(value == 7 && calls == 3)
        #expect(throws: SystemError(call: "call", code: EIO)) {
            try retryingInterrupts("call") { () -> Int in
                errno = EIO
                return -1
            }
        }
    }
}
