// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import TakeStore
@testable import Utter

/// A small file that several processes change, each with a store of its own.
@Suite struct ServiceNotesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func spool() throws -> Spool { Spool(at: folder.path("state")) }

    private func notes(
        _ sync: SyncLoop, _ kind: ServiceNotes.Kind = .lengths
    ) throws -> ServiceNotes { ServiceNotes(kind, in: try spool(), sync: sync) }

    @Test func whatTwoProcessesRememberAtOnceStays() throws {
        let loops = [try SyncLoop(), try SyncLoop()]
        let notes = try loops.map { try self.notes($0) }
        for number in 0..<40 {
            for (index, note) in notes.enumerated() { note.insert("\(index)-\(number)", 1) }
        }
        for loop in loops { loop.shutDown() }
        let third = try self.notes(try SyncLoop())
        for number in 0..<40 {
            #expect(third.value(of: "0-\(number)") == 1)
            #expect(third.value(of: "1-\(number)") == 1)
        }
    }

    @Test(arguments: [ServiceNotes.Kind.lengths, .stretches])
    func whatIsOverIsForgottenAndTheNewestStay(_ kind: ServiceNotes.Kind) throws {
        let now = Int(Date().timeIntervalSince1970)
        _ = try spool().store()
        let file = kind == .lengths ? "length-origins" : "stretch-limits"
        let lines = (0..<ServiceNotes.limit).map { "\(now - 1_000 + $0) \($0)\n" }
        try folder.write(
            Array(("\(now - kind.lifetime - 1) over\ndamaged\n" + lines.joined()).utf8),
            to: "state/\(file)")
        let loop = try SyncLoop()
        let note = try notes(loop, kind)
        #expect(["over", "0", "1"].map { note.value(of: $0) } == [nil, 1, 1])
        note.insert("new", 1)
        loop.shutDown()
        #expect(["0", "1", "new"].map { note.value(of: $0) } == [nil, 1, 1])
        let text = String(decoding: try folder.read("state/\(file)"), as: UTF8.self)
        #expect(text.split(separator: "\n").count == ServiceNotes.limit)
        #expect(!text.contains(" 0\n") && text.hasSuffix(" new\n"))
    }

    @Test func aPersonForgetsWhatRefusalsHaveTaught() throws {
        let loop = try SyncLoop()
        let note = try notes(loop, .stretches)
        note.insert("http://127.0.0.1:9/listen", 480_000)
        #expect(note.value(of: "http://127.0.0.1:9/listen") == 480_000)
        loop.shutDown()
        let known = try spool().learnedLimits()
        #expect(known.map(\.url) == ["http://127.0.0.1:9/listen"])
        #expect(known.map(\.longest) == [.seconds(30)])
        try spool().forgetLearnedLimits()
        #expect(note.value(of: "http://127.0.0.1:9/listen") == nil)
        #expect(try spool().learnedLimits().isEmpty)
    }
}
