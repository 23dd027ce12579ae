// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// What the journal thread does: gives each ring its turn.
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
