// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import UtterCommands
@testable import UtterTerminal

/// The columns of `utter list`, by the clock of the machine that runs the tests.
@Suite struct TakeTableTests {
    /// Two in the afternoon of a day in the middle of a year, wherever that is.
    private static let now = noon(of: Date(timeIntervalSince1970: 1_782_000_000))

    private static func noon(of date: Date) -> Date {
        let time = LocalTime(date).exact.split { ": -".contains($0) }.compactMap { Int($0) }
        return date - Double(3_600 * time[3] + 60 * time[4] + time[5]) + 12 * 3_600
    }

    private static let rows = [
        TakeTable.Row(
            name: "k3f9", began: now - 40 * 86_400, state: "answered", length: .seconds(723),
            words: "and i got my ah matter that i want your brain and over euro"),
        TakeTable.Row(
            name: "v5p2q", began: now - 7_260, state: "kept", length: .milliseconds(6_200),
            words: "私の声はあなたの声のように聞こえますか本当にそうですか私の声はあなたの声のように"),
        TakeTable.Row(name: "-", began: nil, state: "foreign", length: nil, words: "notes.txt"),
        TakeTable.Row(
            name: "aaaa", began: now - 30, state: "recording", length: nil, words: ""),
    ]

    private func lines(_ columns: Int?) -> [String] {
        TakeTable(Self.rows, now: Self.now).lines(columns: columns)
    }

    @Test func columnsAreAligned() {
        let lines = lines(nil)
        #expect(lines[1].hasPrefix("v5p2q  today 09:59    2 h  kept        0:06.2  私の声は"))
        #expect(lines[1].hasSuffix("のように"))
        #expect(lines[2] == "-      -                -  foreign          -  notes.txt")
        #expect(lines[3] == "aaaa   today 11:59    now  recording        -")
        #expect(lines[0].contains("  40 d  answered   12:03.0  and i got"))
    }

    @Test func noLineIsWiderThanTheTerminal() {
        for columns in 1...200 {
            for line in lines(columns) {
                #expect(TextWidth.columns(of: line) <= columns, "\(line)")
            }
        }
    }

    @Test(arguments: [
        (80, "k3f9   May 11 12:00  40 d  answered   12:03.0  and i got my ah matter that i wa…"),
        (60, "k3f9   May 11 12:00  answered   12:03.0  and i got my ah ma…"),
        (40, "k3f9   40 d   answered   and i got my a…"), (20, "k3f9   and i got my…"),
    ])
    func wordsAreThereAtEveryWidth(_ columns: Int, _ expected: String) {
        let day = LocalTime(Self.rows[0].began ?? Self.now).text(at: LocalTime(Self.now))
        #expect(lines(columns).first == expected.replacing("May 11 12:00", with: day))
    }

    @Test(
        arguments: [
            (-60, "now", "today"), (30, "now", "today"), (90, "1 min", "today"),
            (7_200, "2 h", "today"),
            (86_400, "1 d", ""), (86_400 * 400, "400 d", "20"),
            // These have the same day of another month.
            (86_400 * 30, "30 d", ""), (86_400 * 31, "31 d", ""),
        ] as [(Double, String, String)])
    func timesAreLocalAndTellTheAge(_ ago: Double, _ age: String, _ beginning: String) {
        let (now, then) = (LocalTime(Self.now), LocalTime(Self.now - ago))
        #expect(then.age(at: now) == (ago < 0 ? nil : age))
        let text = then.text(at: now)
        #expect(text.hasPrefix(beginning) && (beginning == "today" || !text.hasPrefix("today")))
    }

    @Test(
        arguments: [
            (
                #"the answer has no text at 'text': '{"metadata": {"request_id": "x"}, "results": [{"a"#,
                "the answer has no text at 'text'…"
            ),
            ("cannot connect to http://h: Connection refused", nil), ("busy: [1, 2]", "busy…"),
        ] as [(String, String?)])
    func jsonInAReasonIsLeftOut(_ reason: String, _ short: String?) {
        #expect(TakeEntry.shortened(reason) == short ?? reason)
    }
}
