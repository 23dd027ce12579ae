// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UtterTerminal

/// Keys that are held, on terminals that do not say so.
@Suite struct RepeatFilterTests {
    private static let start = ContinuousClock.now

    private static func at(_ milliseconds: Int) -> ContinuousClock.Instant {
        start + .milliseconds(milliseconds)
    }

    /// A keyboard: its delay and its interval, in milliseconds.
    static let keyboards = [(250, 25), (500, 30), (660, 40), (500, 100), (600, 16), (250, 140)]

    @Test(arguments: keyboards) func aKeyThatIsHeldIsPressedOnce(_ delay: Int, _ interval: Int) {
        var filter = RepeatFilter(at: Self.at(0))
        #expect(filter.press(.space, at: Self.at(0)) == .press)
        for index in 0..<200 {
            let time = delay + index * interval
            #expect(filter.press(.space, at: Self.at(time)) == .repetition, "\(time)")
        }
        let end = delay + 199 * interval
        #expect(filter.press(.space, at: Self.at(max(end + 151, 701))) == .press)
    }

    @Test func aKeyThatIsPressedAgainLaterIsPressed() {
        var filter = RepeatFilter(at: Self.at(0))
        #expect(filter.press(.space, at: Self.at(0)) == .press)
        #expect(filter.press(.space, at: Self.at(701)) == .press)
        #expect(filter.press(.space, at: Self.at(1_401)) == .repetition)
        #expect(filter.press(.space, at: Self.at(1_402)) == .repetition)
        #expect(filter.press(.space, at: Self.at(1_553)) == .press)
    }

    @Test func anotherKeyIsAnotherMatter() {
        var filter = RepeatFilter(at: Self.at(0))
        #expect(filter.press(.space, at: Self.at(0)) == .press)
        #expect(filter.press(.enter, at: Self.at(10)) == .press)
        #expect(filter.press(.space, at: Self.at(20)) == .repetition)
    }

    @Test func aKeyThatWentUpIsPressedAgain() {
        var filter = RepeatFilter(at: Self.at(0))
        #expect(filter.press(.space, at: Self.at(0)) == .press)
        filter.release(.space)
        #expect(filter.press(.space, at: Self.at(100)) == .press)
    }

    @Test(arguments: keyboards.filter { $0.1 <= 140 })
    func theEnterThatHasBegunTheProgramMayBeHeld(_ delay: Int, _ interval: Int) {
        // The program begins 40 ms after the press.
        var filter = RepeatFilter(held: .enter, at: Self.at(40))
        let first = filter.press(.enter, at: Self.at(delay))
        #expect(first == .unknown(until: Self.at(delay + 150)))
        for index in 1..<50 {
            let now = Self.at(delay + index * interval)
            #expect(filter.due(at: now) == nil)
            #expect(filter.press(.enter, at: now) == .repetition)
        }
        #expect(filter.deadline == nil)
        #expect(filter.due(at: Self.at(100_000)) == nil)
    }

    @Test func theEnterThatIsPressedAfterThatOneCountsALittleLater() {
        var filter = RepeatFilter(held: .enter, at: Self.at(0))
        #expect(filter.press(.enter, at: Self.at(300)) == .unknown(until: Self.at(450)))
        #expect(filter.deadline == Self.at(450))
        #expect(filter.due(at: Self.at(449)) == nil)
        #expect(filter.due(at: Self.at(450)) == .enter)
        #expect(filter.due(at: Self.at(451)) == nil)
        // From then on it is a key like any other.
        #expect(filter.press(.enter, at: Self.at(460)) == .repetition)
    }

    @Test func anEnterLongAfterThatOneCountsAtOnce() {
        var filter = RepeatFilter(held: .enter, at: Self.at(0))
        #expect(filter.press(.enter, at: Self.at(701)) == .press)
    }
}
