// SPDX-License-Identifier: Apache-2.0

package import AudioCore
internal import Cryptography
internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// The thread that carries every ring into its journal, for any number of takes.
///
/// It writes and never syncs: a disk that takes seconds to sync must not hold back bytes that
/// the network could already have. Syncing is the sync thread's (`SyncLoop`).
package final class JournalLoop: Sendable {
    private struct Inbox {
        var stages: [JournalStage] = []
        var jobs: [@Sendable () -> Void] = []
    }

    private let wakeup: Wakeup
    private let inbox = Mutex(Inbox())
    private let isShutDown = Atomic(false)
    private let thread = Mutex<NamedThread?>(nil)
    private let onAppend: @Sendable () -> Void

    /// Starts the thread.
    ///
    /// - Parameter onAppend: called on the journal thread after a turn in which a journal grew
    ///   or was sealed; must not block.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    package init(onAppend: @escaping @Sendable () -> Void) throws(SystemError) {
        wakeup = try Wakeup()
        self.onAppend = onAppend
        let started = try NamedThread(name: "journal") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Carries a ring into a journal until the ring is finished and empty.
    ///
    /// From any thread.
    ///
    /// - Parameters:
    ///   - ring: the reading end.
    ///   - open: called once on the journal thread, makes the journal.
    ///   - onGrowth: called on the journal thread when the journal grew; must not block.
    ///   - onDrain: called on the journal thread when the ring's writer waits for it to be empty and
    ///     it may be; must not block.
    ///   - onFull: called once on the journal thread when the journal has no room for much more:
    ///     the ring's writer should finish.
    ///   - onSeal: called once on the journal thread, after the journal was sealed.
    package func add(
        ring: consuming ByteRing.Consumer,
        open: @escaping @Sendable () -> Result<Journal, SystemError>,
        onGrowth: @escaping @Sendable () -> Void, onDrain: @escaping @Sendable () -> Void = {},
        onFull: @escaping @Sendable () -> Void = {},
        onSeal: @escaping @Sendable (JournalSeal) -> Void
    ) {
        let stage = JournalStage(
            ring: ring, open: open, onGrowth: onGrowth, onDrain: onDrain, onFull: onFull,
            onSeal: onSeal)
        inbox.withLock { $0.stages.append(stage) }
        wakeup.signal()
    }

    /// Carries out a job that writes a little and does not wait for the disk.
    ///
    /// From any thread.
    package func perform(_ job: @escaping @Sendable () -> Void) {
        inbox.withLock { $0.jobs.append(job) }
        wakeup.signal()
    }

    /// Says that a ring has bytes.
    ///
    /// From any thread; never blocks.
    package func wake() { wakeup.signal() }

    /// Carries what the rings hold now, ends the thread and waits for it; journals whose rings
    /// have not been finished are left unsealed.
    package func shutDown() {
        // releasing: partner of the acquire in `run`.
        isShutDown.store(true, ordering: .releasing)
        wakeup.signal()
        thread.withLock { $0 }?.join()
    }

    private func run() {
        var stages: [JournalStage] = []
        while true {
            // Taken back first: what is asked for after this signals again.
            wakeup.drain()
            // acquiring: partner of the release in `shutDown`; what the rings were given before
            // it is seen below.
            let isLast = isShutDown.load(ordering: .acquiring)
            let mail = inbox.withLock { inbox in
                defer { inbox = Inbox() }
                return inbox
            }
            stages += mail.stages
            for job in mail.jobs { job() }
            var didAppend = false
            for stage in stages where stage.turn() { didAppend = true }
            if didAppend { onAppend() }
            // Told after the network, which has nothing to wait for here.
            for stage in stages { stage.announceGrowth() }
            stages.removeAll { $0.isDone }
            let isBusy = stages.contains { $0.hasMore }
            if isLast && !isBusy { return }
            var descriptor = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
            // EINTR leads to one more turn, which is harmless.
            _ = unsafe poll(&descriptor, 1, isBusy ? 0 : -1)
        }
    }
}

/// What a sealed journal holds.
package struct JournalSeal: Sendable, Equatable {
    /// Its length in bytes.
    package var byteCount: Int
    /// The SHA-256 of its bytes, as 64 hexadecimal digits.
    package var sha256: String
    /// The write that not even memory could take; bytes after it are lost.
    package var loss: SystemError?

    /// Creates the seal of a journal.
    package init(byteCount: Int, sha256: String, loss: SystemError?) {
        self.byteCount = byteCount
        self.sha256 = sha256
        self.loss = loss
    }
}

/// One ring on its way into one journal.
///
/// Touched by the journal thread alone once it is added.
private final class JournalStage: @unchecked Sendable {
    /// The most that one turn carries, so that a source without a pace starves nobody: 4 s of PCM,
    /// written in well under a millisecond.
    static let turnLimit = 128 << 10

    private let ring: ByteRing.Consumer
    private let open: @Sendable () -> Result<Journal, SystemError>
    private let onGrowth: @Sendable () -> Void
    private let onDrain: @Sendable () -> Void
    private let onFull: @Sendable () -> Void
    private let onSeal: @Sendable (JournalSeal) -> Void
    private var digest = SHA256()
    private var journal: Journal?
    private var loss: SystemError?
    private var hasGrown = false
    private var isFull = false
    private(set) var isDone = false
    /// Whether the last turn has left bytes in the ring.
    private(set) var hasMore = false

    init(
        ring: consuming ByteRing.Consumer,
        open: @escaping @Sendable () -> Result<Journal, SystemError>,
        onGrowth: @escaping @Sendable () -> Void, onDrain: @escaping @Sendable () -> Void,
        onFull: @escaping @Sendable () -> Void, onSeal: @escaping @Sendable (JournalSeal) -> Void
    ) {
        self.ring = ring
        self.onDrain = onDrain
        self.open = open
        self.onGrowth = onGrowth
        self.onFull = onFull
        self.onSeal = onSeal
    }

    /// Carries what the ring holds, or as much as one turn may, into the journal.
    ///
    /// Returns whether the journal grew or was sealed.
    func turn() -> Bool {
        guard !isDone else { return false }
        if journal == nil && loss == nil {
            switch open() {
            case .success(let opened): journal = opened
            case .failure(let error): loss = error
            }
        }
        // Asked first: what is stored before the end was declared is then seen below.
        let isLast = ring.isFinished
        var carried = 0
        hasMore = true
        while hasMore && carried < Self.turnLimit {
            let count = ring.consume { append($0.extracting(first: Self.turnLimit - carried)) }
            carried += count
            hasMore = count > 0
        }
        hasGrown = carried > 0
        if ring.wasAwaited() { onDrain() }
        declareFull()
        guard isLast && !hasMore else { return hasGrown }
        isDone = true
        announceGrowth()
        journal?.seal()
        let seal = JournalSeal(
            byteCount: journal?.byteCount ?? 0, sha256: digest.hexadecimal, loss: loss)
        onSeal(seal)
        return true
    }

    /// Says that the journal grew in the last turn, when it did.
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
