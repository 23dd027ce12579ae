// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterTerminal

/// What the two painters write for the same states, by a clock that the test moves.
@Suite struct PainterTests {
    private let start = ContinuousClock.now
    private let size = WindowSize(columns: 40, rows: 24)

    private func state(
        _ course: ScreenState.Course = .unknown, _ connection: ScreenState.Connection = .untold
    ) -> ScreenState {
        var state = ScreenState("speak", .microphone)
        (state.course, state.connection) = (course, connection)
        return state
    }

    // MARK: - Lines that stay

    @Test func theFirstIsToldAtOnceAndTheNextASecondLater() {
        var log = LogPainter()
        #expect(log.wait(at: start) == nil)
        log.show(state(.begun("recording")))
        #expect(log.take(at: start) == "recording")
        log.show(state(.stopped("stopped")))
        #expect(log.take(at: start + .milliseconds(400)) == nil)
        #expect(log.wait(at: start + .milliseconds(400)) == .milliseconds(600))
        #expect(log.take(at: start + .seconds(1)) == "stopped; sending")
        #expect(log.wait(at: start + .seconds(1)) == nil)
        log.show(state(.sent(afterStop: "stopped")))
        #expect(log.take(at: start + .seconds(2)) == "all sent; waiting for the text")
    }

    @Test func whatIsNoLongerSoIsNotTold() {
        var log = LogPainter()
        log.show(state(.opening("nothing yet")))
        log.show(state(.begun("recording")))
        #expect(log.take(at: start) == "recording")
        log.show(state(.begun("recording"), .lost("offline")))
        log.show(state(.stopped("stopped"), .lost("offline")))
        log.show(state(.sent(afterStop: "stopped"), .lost("offline")))
        // Nobody was told of the loss.
        log.show(state(.sent(afterStop: "stopped"), .back))
        #expect(log.take(at: start + .seconds(5)) == "stopped; all sent, waiting for the text")
        #expect(log.take(at: start + .seconds(10)) == nil)
        #expect(log.wait(at: start + .seconds(10)) == nil)
    }

    @Test func aLossThatWasToldHasAnEnd() {
        var log = LogPainter()
        log.show(state(.unknown, .lost("offline")))
        #expect(log.take(at: start) == "offline")
        log.show(state(.unknown, .back))
        log.show(state(.unknown, .lost("refused")))
        #expect(log.take(at: start + .seconds(1)) == "refused")
        log.show(state(.unknown, .back))
        #expect(log.take(at: start + .seconds(2)) == "connected again")
        log.show(state(.unknown, .back))
        #expect(log.wait(at: start + .seconds(3)) == nil)
    }

    @Test func noSecondHasTwoLinesWhateverHappens() {
        var (log, random) = (LogPainter(), SeededRandom())
        var (now, told) = (start, [ContinuousClock.Instant]())
        for number in 0..<5_000 {
            log.show(
                Bool.random(using: &random)
                    ? state(.begun("\(number)")) : state(.unknown, .lost("\(number)")))
            if log.take(at: now) != nil { told.append(now) }
            now += .milliseconds(Int.random(in: 0...20, using: &random))
        }
        #expect(told.count > 10)
        #expect(zip(told, told.dropFirst()).allSatisfy { $1 - $0 >= .seconds(1) })
    }

    // MARK: - Lines that change

    @Test func onATerminalOnlyTheBeginningAndTheConnectionAreLinesThatStay() {
        var live = LivePainter()
        #expect(live.show(state(.opening("nothing yet")), of: 1).isEmpty)
        #expect(live.show(state(.begun("recording")), of: 1) == ["recording"])
        #expect(live.show(state(.begun("recording"), .lost("offline")), of: 1) == ["offline"])
        #expect(live.show(state(.stopped("stopped"), .back), of: 1) == ["connected again"])
        #expect(live.show(state(.sent(afterStop: "stopped"), .back), of: 1).isEmpty)
    }

    @Test func whatIsThereIsNotDrawnAgain() {
        var live = LivePainter()
        _ = live.show(state(), of: 1)
        let codes = live.draw(in: size, hasColour: false, at: start)
        #expect(codes == LiveText.drawing(["speak"]))
        _ = live.show(state(), of: 1)
        #expect(live.draw(in: size, hasColour: false, at: start) == nil)
        // On a window of another size it is, and once it was taken away.
        let narrow = WindowSize(columns: 24, rows: 24)
        #expect(live.draw(in: narrow, hasColour: false, at: start) == codes)
        #expect(live.erase() == LiveText.erasure())
        #expect(live.erase() == nil)
        #expect(live.draw(in: narrow, hasColour: false, at: start) == codes)
    }

    @Test func whileOthersWriteNothingIsDrawnAndTheTurnIsOver() {
        var live = LivePainter()
        _ = live.show(state(), of: 1)
        #expect(live.schedule.wait(at: start) == .zero)
        #expect(live.draw(in: size, hasColour: false, at: start, isFree: false) == nil)
        #expect(live.schedule.wait(at: start) == nil)
        #expect(live.erase() == nil)
    }

    @Test func theNewestTakeIsShownUntilItIsOver() {
        var live = LivePainter()
        _ = live.show(state(), of: 1)
        _ = live.show(ScreenState("tail"), of: 2)
        // What is lost of the other is said all the same.
        #expect(live.show(state(.unknown, .lost("offline")), of: 1) == ["offline"])
        #expect(
            live.draw(in: size, hasColour: false, at: start) == LiveText.drawing(["tail"]))
        #expect(live.hide(1) == false)
        #expect(live.hide(2) == true)
        _ = live.erase()
        _ = live.show(state(), of: 1)
        #expect(live.draw(in: size, hasColour: false, at: start) == nil)
    }
}

/// How often a line is drawn, by a clock that the test moves.
@Suite struct RedrawScheduleTests {
    private let start = ContinuousClock.now

    @Test func theFirstChangeAfterARestIsDrawnAtOnce() {
        var schedule = RedrawSchedule()
        #expect(schedule.wait(at: start) == nil)
        schedule.change()
        #expect(schedule.wait(at: start) == .zero)
        schedule.draw(at: start, nextChange: nil)
        #expect(schedule.wait(at: start) == nil)
    }

    @Test func theLastOfManyChangesIsDrawnInItsTurn() {
        var schedule = RedrawSchedule()
        schedule.draw(at: start, nextChange: nil)
        schedule.change()
        schedule.change()
        let later = start + .milliseconds(10)
        #expect(schedule.wait(at: later) == RedrawSchedule.interval - .milliseconds(10))
        #expect(schedule.wait(at: start + .seconds(1)) == .zero)
    }

    @Test func noSecondHasMoreThanTwentyDrawings() {
        var random = SeededRandom()
        var schedule = RedrawSchedule()
        var now = start
        var drawings: [ContinuousClock.Instant] = []
        for _ in 0..<5_000 {
            schedule.change()
            if schedule.wait(at: now) == .zero {
                drawings.append(now)
                schedule.draw(at: now, nextChange: nil)
            }
            now += .microseconds(Int.random(in: 0...8_000, using: &random))
        }
        for drawing in drawings {
            let second = drawing...(drawing + .seconds(1))
            #expect(drawings.filter(second.contains).count <= 20)
        }
        // The last state, too.
        schedule.change()
        #expect(schedule.wait(at: now).map { $0 <= RedrawSchedule.interval } == true)
    }

    @Test func aLineThatCountsSecondsIsDrawnWithoutAChange() {
        var schedule = RedrawSchedule()
        schedule.draw(at: start, nextChange: .milliseconds(100))
        #expect(schedule.wait(at: start) == .milliseconds(100))
        #expect(schedule.wait(at: start + .milliseconds(100)) == .zero)
    }
}
