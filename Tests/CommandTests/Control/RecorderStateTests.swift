// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter
@testable import UtterCommands

/// For how long a recorder knows a take, and who gets its text.
@Suite struct RecorderStateTests {
    private let clients = (0..<3).map { ControlClientID(number: $0) }
    private let pipeline: Pipeline
    private var state = Recorder.State()

    /// One take, whose text the first client waits for.
    init() throws {
        pipeline = try Pipeline(spool: nil)
        let service = try RecognitionService(url: ServiceURL("http://127.0.0.1:9/"))
        let plan = TakePlan(source: FileReplay(path: "/dev/null/none"), service: service)
        state.entries = [Recorder.Entry(number: 1, take: pipeline.start(plan))]
        _ = answer(.stopped(1), clients[0])
    }

    private mutating func answer(_ reply: Dictation.Reply, _ client: ControlClientID)
        -> ControlReply
    {
        state.answer(ControlRequest(.toggle), reply, for: client).0
    }

    private mutating func conclude() {
        let take = state.entries[0].take.id
        state.entries[0].conclusion = TakeConclusion(
            take: take, status: .textPrinted, text: "go", lines: [], report: "", isSettled: true)
    }

    @Test mutating func aTakeStaysForTheRequestsThatCameBeforeItsEnd() {
        defer { pipeline.shutDown() }
        state.requests = 2
        conclude()
        #expect(state.letGo(of: clients[0], hasPrinted: true)?.isPrinted == true)
        // Their turn comes after the text was printed: the talk has not been told of the end yet.
        #expect(state.removeOver().isEmpty)
        let id = state.entries[0].take.id.text
        #expect(
            answer(.resumed(1), clients[1])
                == .answer(.done("recording goes on in take \(id)", take: id)))
        let message = "take \(id) was stopped already; its text goes to the one who stopped it"
        #expect(answer(.stopped(1), clients[2]) == .answer(.done(message, take: id)))
        state.requests = 0
        #expect(state.removeOver().map(\.isPrinted) == [true])
        #expect(state.entries.isEmpty)
    }

    @Test mutating func aTextThatWasNotPrintedGoesToTheNextWhoAsks() {
        defer { pipeline.shutDown() }
        state.requests = 1
        conclude()
        #expect(state.letGo(of: clients[0], hasPrinted: false)?.isPrinted == false)
        #expect(state.letGo(of: clients[0], hasPrinted: true) == nil)
        #expect(state.removeOver().isEmpty)
        let id = state.entries[0].take.id.text
        #expect(answer(.nothing, clients[1]) == .wait(ControlAnswer(.waiting, take: id)))
        state.requests = 0
        #expect(state.removeOver().isEmpty)
        #expect(state.letGo(of: clients[1], hasPrinted: true)?.isPrinted == true)
        #expect(state.removeOver().count == 1)
    }

    @Test mutating func aClientThatLeavesEarlyHasPrintedNothing() {
        defer { pipeline.shutDown() }
        #expect(state.letGo(of: clients[0], hasPrinted: true)?.isPrinted == false)
        #expect(state.removeOver().isEmpty)
        conclude()
        #expect(state.removeOver().map(\.isPrinted) == [false])
    }
}
