// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A mark of one thing among the many that a loop serves, such as a take.
///
/// A thread that has something for the loop to do sets the mark of what it is for, without a lock,
/// and then signals the loop's wake-up. The loop takes all marks that are set, and looks at nothing
/// else.
@safe package final class Mark: Sendable {
    private let marks: Marks
    private let isSet = Atomic(false)
    private let listener = Mutex<Listener?>(nil)
    /// Written by the thread that sets the mark, turned around and read by the one that takes it.
    fileprivate let next = unsafe Atomic<Unmanaged<Mark>?>(nil)

    package init(in marks: Marks) { self.marks = marks }

    package func set() {
        // Both: partner of the exchange in `take`, as in `Wakeup`.
        guard !isSet.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // The list keeps the mark until it is taken.
        let mark = unsafe Unmanaged.passRetained(self)
        var first = unsafe marks.first.load(ordering: .relaxed)
        while true {
            unsafe next.store(first, ordering: .relaxed)
            // releasing: partner of the acquire in `Marks.take`.
            let (isStored, now) = unsafe marks.first.weakCompareExchange(
                expected: first, desired: mark, successOrdering: .releasing,
                failureOrdering: .relaxed)
            if isStored { return }
            unsafe first = now
        }
    }

    /// Has `look` called by `tell`; from any thread.
    package func whenTaken(_ look: @escaping @Sendable () -> Void) {
        listener.withLock { $0 = Listener(look) }
    }

    /// Tells whom it concerns that the loop has taken it, and acted; on the loop's thread.
    package func tell() { listener.withLock { $0 }?.look() }

    /// A closure in a lock would be wrapped anew at each look.
    private final class Listener: Sendable {
        let look: @Sendable () -> Void

        init(_ look: @escaping @Sendable () -> Void) { self.look = look }
    }

    fileprivate func take() -> Unmanaged<Mark>? {
        let rest = unsafe next.load(ordering: .relaxed)
        _ = isSet.exchange(false, ordering: .acquiringAndReleasing)
        return unsafe rest
    }
}

@safe package final class Marks: Sendable {
    fileprivate let first = unsafe Atomic<Unmanaged<Mark>?>(nil)

    package init() {}

    deinit { take() }

    /// Whether any is set, as far as this thread knows.
    package var isAnySet: Bool { unsafe first.load(ordering: .relaxed) != nil }

    /// Takes all marks back, in the order in which they were set; on the loop's thread.
    package func take(_ look: (Mark) -> Void = { _ in }) {
        // acquiring: partner of the release in `Mark.set`.
        var newest = unsafe first.exchange(nil, ordering: .acquiring)
        var oldest: Unmanaged<Mark>?
        // A mark that is set already is left alone by those that set it.
        while let mark = unsafe newest {
            unsafe newest = mark.takeUnretainedValue().next.exchange(oldest, ordering: .relaxed)
            unsafe oldest = mark
        }
        while let mark = unsafe oldest?.takeRetainedValue() {
            unsafe oldest = mark.take()
            look(mark)
        }
    }
}
