// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

@testable import TakeStore
@testable import Utter

extension Recovery {
    /// Recovers what there is, as soon as it is not locked: a child of another test holds a copy of
    /// each lock of this process until it has become its program.
    static func recoverUnlocked(in store: TakeStore) throws -> [TakeID] {
        let deadline = MonotonicTime.now + .patience
        while MonotonicTime.now < deadline {
            let recovered = try recoverAll(in: store)
            if !recovered.isEmpty { return recovered }
            sched_yield()
        }
        return []
    }
}
