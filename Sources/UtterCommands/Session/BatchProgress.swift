// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Utter

/// How far the sending of many files has come, on one line of the terminal.
///
/// Drawn by the thread that brings the news, at most as often as eyes see.
final class BatchProgress: Sendable {
    private struct State {
        var count: BatchCount
        var schedule = RedrawSchedule()
        var isDrawn = false
    }

    /// Whether there is a line.
    let isLive: Bool
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// Begins with nothing sent.
    init(count: Int, isLive: Bool) {
        self.isLive = isLive
        state = Mutex(State(count: BatchCount(total: count)))
    }

    /// Learns what has happened to a file.
    func note(_ event: TakeEvent, of index: Int) {
        guard isLive, case .progress(let progress) = event else { return }
        state.withLock { state in
            // Of a file that is being read, how long it is is not known yet.
            let isKnown = progress.isComplete && progress.bodyByteCount > 0
            let share =
                isKnown ? Double(progress.sentByteCount) / Double(progress.bodyByteCount) : 0
            state.count.parts[index] = min(1, share)
            draw(&state)
        }
    }

    /// Learns how a file ended; of one that was not sent there is no length.
    func finish(_ index: Int, _ length: Duration?, hasFailed: Bool) {
        state.withLock { state in
            state.count.finish(index, length, hasFailed: hasFailed)
            draw(&state)
        }
    }

    /// Has lines written that stay, above the one that changes, which is there again then.
    func write<Value>(_ body: () -> Value) -> Value {
        state.withLock { erase(&$0) }
        defer { show() }
        return body()
    }

    /// Has the line there again.
    func show() { state.withLock { draw(&$0, isDue: true) } }

    /// Takes the line away, until there is news.
    func clear() { state.withLock { erase(&$0) } }

    /// All of it in one line.
    var summary: String { state.withLock { $0.count.summary(after: .now - start) } }

    /// Draws the line if it `isDue`, or as often as eyes see.
    private func draw(_ state: inout State, isDue: Bool = false) {
        let now = ContinuousClock.now
        _ = state.schedule.change()
        guard isLive, isDue || state.schedule.wait(at: now) == .zero else { return }
        state.schedule.draw(at: now, nextChange: nil)
        let text = state.count.line(columns: StandardError.columns, after: now - start)
        StandardError.write(LiveText.drawing(text))
        state.isDrawn = true
    }

    private func erase(_ state: inout State) {
        if state.isDrawn { StandardError.write(LiveText.erasure()) }
        state.isDrawn = false
    }
}
