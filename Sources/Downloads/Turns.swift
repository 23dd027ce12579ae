// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How many requests may be under way at once; from any thread, never blocks.
final class Turns: Sendable {
    private let free: Atomic<Int>

    init(_ count: Int) { free = Atomic(count) }

    func take() -> Bool {
        // It counts, and hands nothing over.
        guard free.subtract(1, ordering: .relaxed).newValue < 0 else { return true }
        give()
        return false
    }

    func give() { free.add(1, ordering: .relaxed) }
}
