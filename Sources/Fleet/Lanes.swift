// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// Does the same with many things, some of them side by side, each on a thread that blocks.
enum Lanes {
    /// So many requests are under way.
    static let count = 16

    /// Takes one thing after the other, until there are none or one fails; blocks.
    ///
    /// - Parameters:
    ///   - next: the next thing; one lane at a time calls it.
    ///   - body: what is done with it.
    /// - Throws: the first failure.
    static func run<Thing>(
        _ next: @escaping @Sendable () throws -> Thing?,
        _ body: @escaping @Sendable (Thing) throws -> Void
    ) throws {
        let held = LaneState()
        let threads = try (0..<count).map { _ in
            try NamedThread(name: "lane") {
                while !held.hasFailed {
                    do {
                        guard let thing = try next() else { return }
                        try body(thing)
                    } catch {
                        held.fail(error)
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        try held.check()
    }
}

private final class LaneState: Sendable {
    private let failure = Mutex<(any Error)?>(nil)

    var hasFailed: Bool { failure.withLock { $0 != nil } }

    func fail(_ error: any Error) { failure.withLock { $0 = $0 ?? error } }

    func check() throws { if let error = failure.withLock({ $0 }) { throw error } }
}
