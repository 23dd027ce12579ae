// SPDX-License-Identifier: Apache-2.0

package import AudioCore
package import LinuxPlatform

/// The thread that carries every ring into its journal, for any number of takes.
///
/// It writes and never syncs: a disk that takes seconds to sync must not hold back bytes that
/// the network could already have. Syncing is the sync thread's (`SyncLoop`). Making a journal may
/// take as long; each is made by a short-lived thread of its own, which then hands it over.
package final class JournalLoop: Sendable {
    private let loop: WorkerLoop<JournalWorker>

    /// `onAppend` is called on the thread after a turn in which a journal grew or was sealed; it
    /// must not block.
    package init(onAppend: @escaping @Sendable () -> Void) throws(SystemError) {
        loop = try WorkerLoop(name: "journal") { JournalWorker(onAppend: onAppend) }
    }

    /// Carries a ring into a journal until the ring is finished and empty.
    ///
    /// From any thread; does not wait for the journal.
    ///
    /// - Parameters:
    ///   - ring: the reading end.
    ///   - open: called once on a thread of its own, makes the journal; may block on the disk.
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
        let ring = SharedRing(ring: ring)
        let carry = { @Sendable [loop] (opened: Result<Journal, SystemError>) in
            _ = loop.send(
                JournalStage(
                    ring: ring, opened, onGrowth: onGrowth, onDrain: onDrain, onFull: onFull,
                    onSeal: onSeal))
        }
        do throws(SystemError) {
            // Nothing joins it: a disk that hangs must not keep a program from ending.
            _ = try NamedThread(name: "open") { carry(open()) }
        } catch {
            carry(.failure(error))
        }
    }

    /// A ring has bytes; from any thread, never blocks.
    package func wake() { loop.wake() }

    /// Carries what the rings hold now, ends the thread and waits for it; journals of unfinished
    /// rings stay unsealed.
    package func shutDown() { loop.shutDown() }
}

struct JournalWorker: Worker {
    private let onAppend: @Sendable () -> Void
    private var stages: [JournalStage] = []

    init(onAppend: @escaping @Sendable () -> Void) { self.onAppend = onAppend }

    mutating func receive(_ stage: JournalStage) { stages.append(stage) }

    mutating func turn(isLast: Bool) -> WorkerPause {
        var (didAppend, hasMore, isDone) = (false, false, false)
        for stage in stages {
            if stage.turn() { didAppend = true }
            if stage.hasMore { hasMore = true }
            if stage.isDone { isDone = true }
        }
        if didAppend {
            onAppend()
            // Told after the network, which has nothing to wait for here.
            for stage in stages { stage.announceGrowth() }
        }
        if isDone { stages.removeAll { $0.isDone } }
        return hasMore ? .goesOn : .untilWoken
    }
}
