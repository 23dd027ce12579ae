// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import TakeStore
@testable import Utter

/// Small files that several processes change, each with a store of its own.
@Suite struct TimedNoteTests {
    private static let now = Date().timeIntervalSince1970
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func note(_ sync: SyncLoop, limit: Int = 1_000) throws -> TimedNote {
        TimedNote(
            .tokens, in: Spool(at: folder.path("state")), sync: sync,
            limit: limit, looksAgain: true)
    }

    @Test func whatTwoProcessesRememberAtOnceStays() throws {
        let loops = [try SyncLoop(), try SyncLoop()]
        let notes = try loops.map { try note($0) }
        for number in 0..<100 {
            for (index, note) in notes.enumerated() {
                note.insert(.init(time: Self.now + 600, text: "text"), by: "\(index)-\(number)")
            }
        }
        for loop in loops { loop.shutDown() }
        let third = try note(try SyncLoop())
        let missing = (0..<100).flatMap { ["0-\($0)", "1-\($0)"] }.filter { third[$0] == nil }
        #expect(missing == [])
    }

    @Test func whatAnotherProcessHasRememberedIsFound() throws {
        let (mine, others) = (try SyncLoop(), try SyncLoop())
        defer { mine.shutDown() }
        let note = try note(mine)
        #expect(note["a"] == nil)
        try self.note(others).insert(.init(time: Self.now + 600, text: "two words"), by: "a")
        others.shutDown()
        #expect(note["a"]?.text == "two words")
    }

    @Test func whatIsOverIsForgottenAndTheNewestStay() throws {
        let loop = try SyncLoop()
        let note = try note(loop, limit: 2)
        for (name, seconds) in [("a", 10.0), ("b", 30), ("c", 20), ("d", -1)] {
            note.insert(.init(time: Self.now + seconds), by: name)
        }
        loop.shutDown()
        #expect(["a", "b", "c", "d"].filter { note[$0] != nil } == ["b", "c"])
        let text = String(decoding: try folder.read("state/tokens"), as: UTF8.self)
        #expect(text.split(separator: "\n").count == 2)
    }
}
