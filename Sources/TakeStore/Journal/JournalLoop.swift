// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// The thread that empties every ring whose writer calls for it, for any number of takes.
///
/// Other rings are emptied by the sync thread before each sync (`SyncLoop`). This one never syncs: the
/// end of a take, and a ring that fills, do not wait for a disk that takes seconds to sync.
package final class JournalLoop: Sendable {
    private let loop: WorkerLoop<JournalWorker>
    private let marks: Marks

    package init() throws(SystemError) {
        let wakeup = try Wakeup(isPolled: false)
        marks = wakeup.marks
        loop = try WorkerLoop(name: "journal", wokenBy: wakeup) {
            JournalWorker(marks: wakeup.marks)
        }
    }

    /// The mark of a ring that is about to be added.
    package func makeMark() -> Mark { Mark(in: marks) }

    /// Carries a stage's ring until it is finished and empty; from any thread.
    package func add(_ stage: JournalStage) { loop.send(stage) }

    /// Wakes the thread when a mark is set; from any thread, never blocks.
    package func wakeForMarks() { if marks.isAnySet { loop.wake() } }

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
    private var stages: [ObjectIdentifier: JournalStage] = [:]
    /// Stages to be looked at in the next turn, in order; a second look at one finds nothing.
    private var due: [JournalStage] = []
    /// Stages of this turn; empty between turns, and made once as the others.
    private var turned: [JournalStage] = []
    /// The count of looks at stages, for tests.
    private(set) var lookCount = 0

    init(marks: Marks = Marks()) { self.marks = marks }

    /// A stage to carry, or nil: all are to be looked at.
    mutating func receive(_ stage: JournalStage?) {
        guard let stage else { return due = Array(stages.values) }
        stages[ObjectIdentifier(stage.mark)] = stage
        due.append(stage)
    }

    mutating func turn(isLast: Bool) -> WorkerPause {
        if isLast { receive(nil) }
        // A mark may outlive its stage.
        marks.take { mark in stages[ObjectIdentifier(mark)].map { due.append($0) } }
        swap(&due, &turned)
        defer { turned.removeAll(keepingCapacity: true) }
        for stage in turned {
            lookCount += 1
            switch stage.turn() {
            case .empty: break
            case .hasMore: due.append(stage)
            case .done: stages[ObjectIdentifier(stage.mark)] = nil
            }
        }
        return due.isEmpty ? .untilWoken : .goesOn
    }
}
