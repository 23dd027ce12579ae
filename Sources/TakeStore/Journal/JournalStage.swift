// SPDX-License-Identifier: Apache-2.0

package import AudioCore
internal import Cryptography
package import LinuxPlatform
internal import Synchronization

/// Carries one ring into one journal: on the sync thread before each sync, and on the journal thread
/// when the ring's writer calls for it.
package final class JournalStage: Sendable {
    /// The most of one turn, so that a source without a pace starves no other take: 4 s of PCM,
    /// written in well under a millisecond.
    static let turnLimit = 128 << 10

    private struct State {
        var digest = SHA256()
        var loss: SystemError?
        var isFull = false
        var isDone = false
    }

    enum Turn {
        /// The ring is empty for now.
        case empty
        case hasMore
        /// The journal is sealed; later turns do nothing.
        case done
    }

    let mark: Mark
    private let ring: ByteRing.Consumer
    private let journal: Journal
    private let onGrow: @Sendable () -> Void
    private let onDrain: @Sendable () -> Void
    private let onFull: @Sendable () -> Void
    private let onSeal: @Sendable (JournalSeal) -> Void
    /// Held for the whole turn of a thread: one carries at a time.
    private let state = Mutex(State())

    /// Joins a ring and a journal without bytes.
    ///
    /// Callbacks are called on the thread that carries, and must not block.
    ///
    /// - Parameters:
    ///   - ring: the reading end.
    ///   - journal: receives the bytes, and is sealed behind the last.
    ///   - mark: of `JournalLoop.makeMark`, set by the ring's writer when the ring is to be emptied at
    ///     once, and at the end.
    ///   - onGrow: called when the journal has grown.
    ///   - onDrain: called when the ring's writer waits for it to be empty and it may be.
    ///   - onFull: called once when the journal has no room for much more: the ring's writer should
    ///     finish.
    ///   - onSeal: called once, after the journal was sealed.
    package init(
        _ ring: consuming ByteRing.Consumer, into journal: Journal, mark: Mark,
        onGrow: @escaping @Sendable () -> Void = {}, onDrain: @escaping @Sendable () -> Void = {},
        onFull: @escaping @Sendable () -> Void = {},
        onSeal: @escaping @Sendable (JournalSeal) -> Void = { _ in }
    ) {
        self.ring = ring
        (self.journal, self.mark, self.onGrow) = (journal, mark, onGrow)
        (self.onDrain, self.onFull, self.onSeal) = (onDrain, onFull, onSeal)
    }

    /// Carries at most one turn's bytes, and seals the journal behind the last.
    @discardableResult
    func turn() -> Turn {
        let (turn, seal) = state.withLock { carry(&$0) }
        if let seal { onSeal(seal) }
        return turn
    }

    private func carry(_ state: inout State) -> (Turn, JournalSeal?) {
        if state.isDone { return (.done, nil) }
        // Asked first: what is stored before the end was declared is then seen below.
        let isLast = ring.isFinished
        var carried = 0
        var hasMore = true
        while hasMore && carried < Self.turnLimit {
            let count = ring.consume { bytes in
                append(bytes.extracting(first: Self.turnLimit - carried), &state)
            }
            carried += count
            hasMore = count > 0
        }
        if carried > 0 {
            onGrow()
            // When nothing was consumed, the writer knows that itself.
            if ring.wasAwaited() { onDrain() }
        }
        if !state.isFull, state.loss != nil || journal.isFull {
            state.isFull = true
            onFull()
        }
        guard isLast, !hasMore else { return (hasMore ? .hasMore : .empty, nil) }
        state.isDone = true
        journal.seal()
        let seal = JournalSeal(
            byteCount: journal.byteCount, sha256: state.digest.hexadecimal, loss: state.loss)
        return (.done, seal)
    }

    private func append(_ bytes: Span<UInt8>, _ state: inout State) -> Int {
        guard state.loss == nil else { return bytes.count }
        do throws(SystemError) {
            try journal.append(bytes)
            state.digest.update(bytes)
        } catch {
            state.loss = error
        }
        return bytes.count
    }
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
