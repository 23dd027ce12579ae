// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Cryptography
package import LinuxPlatform

/// Carries one ring into one journal; on the journal thread.
final class JournalStage {
    /// The most of one turn, so that a source without a pace starves no other take: 4 s of PCM,
    /// written in well under a millisecond.
    static let turnLimit = 128 << 10

    /// Set when the ring has bytes, or has ended.
    let mark: Mark
    private let ring: SharedRing
    private let journal: Journal?
    private let onGrowth: @Sendable () -> Void
    private let onDrain: @Sendable () -> Void
    private let onFull: @Sendable () -> Void
    private let willSeal: @Sendable (Int) -> Void
    private let onSeal: @Sendable (JournalSeal) -> Void
    /// Set for the network when the journal has grown or is sealed.
    private let growth: Mark?
    private var digest = SHA256()
    private var loss: SystemError?
    private var hasGrown = false
    private var isFull = false
    private(set) var isDone = false
    var isDue = false
    private(set) var hasMore = false

    init(
        ring: SharedRing, mark: Mark, _ opened: Result<Journal, SystemError>, growth: Mark? = nil,
        onGrowth: @escaping @Sendable () -> Void, onDrain: @escaping @Sendable () -> Void,
        onFull: @escaping @Sendable () -> Void,
        willSeal: @escaping @Sendable (Int) -> Void = { _ in },
        onSeal: @escaping @Sendable (JournalSeal) -> Void
    ) {
        (self.ring, self.mark, self.growth) = (ring, mark, growth)
        switch opened {
        case .success(let opened): journal = opened
        case .failure(let error): (journal, loss) = (nil, error)
        }
        (self.onDrain, self.onGrowth, self.onFull) = (onDrain, onGrowth, onFull)
        (self.willSeal, self.onSeal) = (willSeal, onSeal)
    }

    /// Carries at most one turn's bytes; returns whether the journal grew or was sealed.
    func turn() -> Bool {
        // Asked first: what is stored before the end was declared is then seen below.
        let isLast = ring.ring.isFinished
        var carried = 0
        hasMore = true
        while hasMore && carried < Self.turnLimit {
            let count = ring.ring.consume { append($0.extracting(first: Self.turnLimit - carried)) }
            carried += count
            hasMore = count > 0
        }
        hasGrown = carried > 0
        // When nothing was consumed, the writer knows that itself.
        if hasGrown, ring.ring.wasAwaited() { onDrain() }
        declareFull()
        guard isLast && !hasMore else {
            // The network follows the ring of others, and knows.
            if hasGrown, journal?.isFollowed != true { growth?.set() }
            return hasGrown
        }
        isDone = true
        announceGrowth()
        let byteCount = journal?.writtenByteCount ?? 0
        willSeal(byteCount)
        journal?.seal()
        growth?.set()
        onSeal(JournalSeal(byteCount: byteCount, sha256: digest.hexadecimal, loss: loss))
        return true
    }

    func announceGrowth() {
        if hasGrown { onGrowth() }
        hasGrown = false
    }

    private func declareFull() {
        guard !isFull, loss != nil || journal?.isFull == true else { return }
        isFull = true
        onFull()
    }

    private func append(_ bytes: Span<UInt8>) -> Int {
        guard loss == nil else { return bytes.count }
        do throws(SystemError) {
            try journal?.append(bytes)
            digest.update(bytes)
        } catch {
            loss = error
        }
        return bytes.count
    }
}

/// The reading end, handed from the thread that opens the journal to the journal thread.
final class SharedRing: Sendable {
    let ring: ByteRing.Consumer

    init(ring: consuming ByteRing.Consumer) { self.ring = ring }
}

package struct JournalSeal: Sendable, Equatable {
    package let byteCount: Int
    /// 64 hexadecimal digits.
    package let sha256: String
    /// The write that not even memory could take; later bytes are lost.
    package let loss: SystemError?

    package init(byteCount: Int, sha256: String, loss: SystemError?) {
        (self.byteCount, self.sha256, self.loss) = (byteCount, sha256, loss)
    }
}
