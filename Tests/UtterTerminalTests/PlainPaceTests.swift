// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterTerminal

/// When plain lines are told, by a clock that the test moves.
@Suite struct PlainPaceTests {
    private let start = ContinuousClock.now

    @Test func theFirstIsToldAtOnceAndTheNextASecondLater() {
        var pace = PlainPace()
        #expect(pace.wait(at: start) == nil)
        pace.add("recording", about: .course)
        #expect(pace.take(at: start) == "recording")
        pace.add("stopped", about: .course)
        #expect(pace.take(at: start + .milliseconds(400)) == nil)
        #expect(pace.wait(at: start + .milliseconds(400)) == .milliseconds(600))
        #expect(pace.take(at: start + .seconds(1)) == "stopped")
        #expect(pace.wait(at: start + .seconds(1)) == nil)
    }

    @Test func whatIsNoLongerSoIsNotTold() {
        var pace = PlainPace()
        pace.add("recording", about: .course)
        _ = pace.take(at: start)
        pace.add("offline", about: .connection)
        pace.add("stopped", about: .course)
        pace.add("all sent", about: .course)
        #expect(pace.withdraw(.connection) == true)
        #expect(pace.withdraw(.connection) == false)
        #expect(pace.take(at: start + .seconds(5)) == "all sent")
        #expect(pace.take(at: start + .seconds(10)) == nil)
    }

    @Test func noSecondHasTwoLinesWhateverHappens() {
        var (pace, random) = (PlainPace(), SeededRandom())
        var (now, told) = (start, [ContinuousClock.Instant]())
        for number in 0..<5_000 {
            pace.add("\(number)", about: Bool.random(using: &random) ? .course : .connection)
            if pace.take(at: now) != nil { told.append(now) }
            now += .milliseconds(Int.random(in: 0...20, using: &random))
        }
        #expect(told.count > 10)
        #expect(zip(told, told.dropFirst()).allSatisfy { $1 - $0 >= .seconds(1) })
    }
}
