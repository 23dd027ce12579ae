// SPDX-License-Identifier: Apache-2.0

/// Pauses between tries that grow, each of a random length up to its limit, so that many clients do
/// not come back together.
package struct Backoff: Sendable, Equatable {
    private let first: Duration
    private let longest: Duration
    package private(set) var tries: Int

    package init(from first: Duration, to longest: Duration, after tries: Int = 0) {
        (self.first, self.longest, self.tries) = (first, longest, max(0, tries))
    }

    /// The next pause.
    ///
    /// - Parameters:
    ///   - asked: what the other side asks for; it is waited for in any case.
    ///   - share: from 0 to 1.
    /// - Returns: at least half of the limit, which doubles each time.
    package mutating func next(
        asked: Duration = .zero, share: Double = .random(in: 0...1)
    ) -> Duration {
        let limit = min(longest, first * (1 << min(tries, 20)))
        tries += 1
        return max(asked, limit / 2 + (limit / 2) * share)
    }
}
