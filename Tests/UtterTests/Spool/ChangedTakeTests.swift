// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import TakeStore
@testable import TextRules
@testable import Utter

/// A take goes elsewhere, or its text is made anew, and loses nothing of itself.
@Suite struct ChangedTakeTests {
    private let bench: SpoolBench

    init() throws { bench = try SpoolBench() }

    @Test func eachTransferKeepsTheServiceThatItWentTo() throws {
        try bench.keep(1) { manifest in
            let delivery = try #require(manifest.delivery)
            for (number, next) in [(1, "http://b/"), (2, "http://c/")] {
                manifest.beginTransfer(number, at: Date(), to: manifest.url)
                manifest.startAnew(at: next, by: delivery)
            }
            #expect(manifest.history?.map(\.url) == ["http://127.0.0.1:9/", "http://b/"])
        }
    }

    @Test func changedRulesApplyToTheTextOfTheServiceWithoutItsStopWord() throws {
        let kept = try bench.keep(1) {
            $0.state = .answered
            ($0.transcript, $0.raw) = ("A cube.", "A cube. Stop listening.")
            $0.changes = [TextChange(.stopWord, "Stop listening.")]
        }
        var rules = TextRules()
        #expect(try !bench.spool.apply(rules, to: kept).isChanged)
        rules.words = WordList([WordList.Entry("cube", "Kube")])
        #expect(try bench.spool.apply(rules, to: kept).isChanged)
        #expect(try bench.spool.takes().map(\.transcript) == ["A Kube."])
    }
}
