// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import Utter
@testable import UtterCommands

@Suite struct ArgumentTests {
    @Test(arguments: [
        ("5", 5_000), ("0", 0), ("0.5", 500), ("5s", 5_000), ("5sec", 5_000), ("1second", 1_000),
        ("300ms", 300), ("2m", 120_000), ("2min", 120_000), ("1h", 3_600_000),
        ("1.5h", 5_400_000), ("1m30s", 90_000), ("1h2m3s", 3_723_000), ("1h3s", 3_603_000),
        ("1s500ms", 1_500), ("1:30", 90_000), ("0:05", 5_000), ("90:00", 5_400_000),
        ("1:02:03", 3_723_000), ("0:02.5", 2_500), ("8784h", 31_622_400_000),
    ])
    func aTimeIsReadInAnyOfItsForms(_ text: String, _ milliseconds: Int) {
        #expect(DurationArgument(argument: text)?.duration == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", "abc", "s", "5x", "-1s", "5 s", "1m30", "30s1m", "1m1m", "1:3", "1:60", "1:2:3:4",
        ":30", "1:", "1.5:30", "1:30s", "inf", "nan", "1e3", "٥s", "1..5s", "8785h", "+5",
    ])
    func whatIsNoneIsRefused(_ text: String) {
        #expect(DurationArgument(argument: text) == nil)
    }

    @Test(arguments: [
        ("2", Pace.times(2)), ("0.5", .times(0.5)), ("realtime", .realTime), ("max", .unpaced),
    ])
    func aPaceIsTakenAsItIsTyped(_ text: String, _ pace: Pace) throws {
        #expect(try PaceArgument(parsing: text).pace == pace)
    }

    @Test func withoutAPaceAFileIsSentAsFastAsItIsRead() throws {
        #expect(try SendCommand.parse(["a.wav"]).pace.pace == .unpaced)
    }

    @Test(arguments: [
        (["--force"], "--force needs --output-dir."),
        (["--cassette-bodies"], "--cassette-bodies needs --cassette."),
        (["-c", "auth.credential="], "-c auth.credential needs a value."),
        (["--set", "Region"], "--set: 'Region' is not WORD=VALUE, such as region=eu."),
    ])
    func anOptionThatLacksSomethingSaysSo(_ words: [String], _ message: String) {
        #expect {
            try SendCommand.parse(["a.wav"] + words)
        } throws: {
            SendCommand.message(for: $0) == message
        }
    }
}
