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
    private let marks: Marks

    /// `onAppend` is called on the thread after a turn in which a journal grew or was sealed; it
    /// must not block.
    package init(onAppend: @escaping @Sendable () -> Void) throws(SystemError) {
        let wakeup = try Wakeup(isPolled: false)
        marks = wakeup.marks
        loop = try WorkerLoop(name: "journal", wokenBy: wakeup) {
            JournalWorker(marks: wakeup.marks, onAppend: onAppend)
        }
    }

    /// The mark of a ring that is about to be added; its writer sets it.
    package func makeMark() -> Mark { Mark(in: marks) }

    /// Carries a ring into a journal until the ring is finished and empty.
    ///
    /// From any thread; does not wait for the journal.
    ///
    /// - Parameters:
    ///   - ring: the reading end.
    ///   - mark: of `makeMark`, set by the ring's writer when there are bytes, and at the end.
    ///   - growth: set when the journal grew or was sealed, before `onAppend`.
    ///   - open: called once on a thread of its own, makes the journal; may block on the disk.
    ///   - onGrowth: called on the journal thread when the journal grew; must not block.
    ///   - onDrain: called on the journal thread when the ring's writer waits for it to be empty and
    ///     it may be; must not block.
    ///   - onFull: called once on the journal thread when the journal has no room for much more:
    ///     the ring's writer should finish.
    ///   - willSeal: called once on the journal thread with the final count of bytes, before any
    ///     reader sees the end; must not block.
    ///   - onSeal: called once on the journal thread, after the journal was sealed.
    package func add(
        ring: consuming ByteRing.Consumer, mark: Mark? = nil, growth: Mark? = nil,
        open: @escaping @Sendable () -> Result<Journal, SystemError>,
        onGrowth: @escaping @Sendable () -> Void, onDrain: @escaping @Sendable () -> Void = {},
        onFull: @escaping @Sendable () -> Void = {},
        willSeal: @escaping @Sendable (Int) -> Void = { _ in },
        onSeal: @escaping @Sendable (JournalSeal) -> Void
    ) {
        let (ring, mark) = (SharedRing(ring: ring), mark ?? makeMark())
        let carry = { @Sendable [loop] (opened: Result<Journal, SystemError>) in
            _ = loop.send(
                JournalStage(
                    ring: ring, mark: mark, opened, growth: growth, onGrowth: onGrowth,
                    onDrain: onDrain, onFull: onFull, willSeal: willSeal, onSeal: onSeal))
        }
        do throws(SystemError) {
            // Nothing joins it: a disk that hangs must not keep a program from ending.
            _ = try NamedThread(name: "open") { carry(open()) }
        } catch {
            carry(.failure(error))
        }
    }

    /// Rings whose marks are set have bytes; from any thread, never blocks.
    package func wakeForMarks() { loop.wake() }

    /// Any ring may have bytes; from any thread.
    func wake() { loop.send(nil) }

    /// Carries what the rings hold now, ends the thread and waits for it; journals of unfinished
    /// rings stay unsealed.
    package func shutDown() {
        loop.shutDown()
        marks.take()
    }
}

struct JournalWorker: Worker {
    private let marks: Marks
    private let onAppend: @Sendable () -> Void
    private var stages: [ObjectIdentifier: JournalStage] = [:]
    /// Stages to be looked at in the next turn.
    private var due: [JournalStage] = []
    /// Stages of this turn; empty between turns, and made once as the others.
    private var turned: [JournalStage] = []
    /// The count of looks at stages, for tests.
    private(set) var lookCount = 0

    init(marks: Marks = Marks(), onAppend: @escaping @Sendable () -> Void) {
        (self.marks, self.onAppend) = (marks, onAppend)
    }

    /// A stage to carry, or nil: all are to be looked at.
    mutating func receive(_ stage: JournalStage?) {
        guard let stage else { return stages.values.forEach { expect($0) } }
        stages[ObjectIdentifier(stage.mark)] = stage
        expect(stage)
    }

    private mutating func expect(_ stage: JournalStage) {
        if !stage.isDue { due.append(stage) }
        stage.isDue = true
    }

    mutating func turn(isLast: Bool) -> WorkerPause {
        if isLast { receive(nil) }
        // A mark may outlive its stage.
        marks.take { mark in stages[ObjectIdentifier(mark)].map { expect($0) } }
        swap(&due, &turned)
        defer { turned.removeAll(keepingCapacity: true) }
        var didAppend = false
        for stage in turned {
            lookCount += 1
            stage.isDue = false
            if stage.turn() { didAppend = true }
            if stage.isDone { stages[ObjectIdentifier(stage.mark)] = nil }
            if stage.hasMore { expect(stage) }
        }
        if didAppend {
            onAppend()
            // Told after the network, which has nothing to wait for here.
            for stage in turned { stage.announceGrowth() }
        }
        return due.isEmpty ? .untilWoken : .goesOn
    }
}
