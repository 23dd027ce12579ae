// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterCommands

/// Words, minutes and waiting times.
@Suite struct StatsTests {
    private typealias Item = TakeStatistics.Item

    @Test func daysAndServicesAreCountedByThemselves() {
        let items = [
            Item(day: "2026-11-21", service: "openai", words: 120, length: 60, waited: 0.4),
            Item(day: "2026-11-21", service: "deepgram", words: 10, length: 30, waited: nil),
            Item(day: "2026-11-22", service: "openai", words: 60, length: 30, waited: 1.2),
        ]
        let statistics = TakeStatistics(items, prices: ["openai": 0.5])
        #expect(
            statistics.lines == [
                "            takes  words  minutes  words/min   wait    p95  cost",
                "2026-11-21      2    130      1.5         87  0.4 s  0.4 s      ",
                "2026-11-22      1     60      0.5        120  1.2 s  1.2 s  0.25",
                "",
                "deepgram        1     10      0.5         20                    ",
                "openai          2    180      1.5        120  0.4 s  1.2 s  0.75",
                "",
                "all             3    190      2.0         95  0.4 s  1.2 s      ",
            ])
    }

    /// Nineteen of twenty are no longer than the last but one.
    @Test func ranksAreOfTheirCount() {
        let items = (1...20).map {
            Item(day: "d", service: "s", words: 0, length: 0, waited: Double($0))
        }
        let all = TakeStatistics(items, prices: [:]).all
        #expect(all.waitMedian == 10 && all.waitLongest == 19 && all.pace == nil && all.cost == nil)
    }

    @Test(arguments: [("go forward ten", 3), ("", 0), ("你好世界", 4), ("私は go", 3)])
    func wordsAreThoseOfTheirLanguage(_ text: String, _ count: Int) {
        #expect(TakeStatistics.words(in: text) == count)
    }

    @Test func takesOfTheDiskAreCounted() async throws {
        let bench = try Bench(server: .hearing("go forward ten meters"))
        #expect(try await bench.here("stats").errorText == "utter: there is no text yet\n")
        _ = try await bench.run("send", try bench.fresh(.goForward))
        let shown = try await bench.here("stats")
        #expect(shown.outputText.contains("all"), "\(shown.errorText)")
        let json = try ParsedJSON(try await bench.here("stats", "--json").output)
        #expect(json["all"]?["words"]?.number == 4 && json["days"]?.array?.count == 1)
        #expect(json["all"]?["waitMedian"]?.number != nil)
        let wrong = try await bench.run("-c", "stats.prices=openai", "stats")
        #expect(wrong.status != .exited(0))
    }
}
