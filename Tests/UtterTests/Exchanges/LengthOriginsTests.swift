// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import TakeStore
@testable import Utter

/// A small file that several processes change, each with a store of its own.
@Suite struct LengthOriginsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func origins(_ sync: SyncLoop) throws -> LengthOrigins {
        LengthOrigins(in: Spool(at: folder.path("state")), sync: sync)
    }

    @Test func whatTwoProcessesRememberAtOnceStays() throws {
        let loops = [try SyncLoop(), try SyncLoop()]
        let notes = try loops.map { try origins($0) }
        for number in 0..<40 {
            for (index, note) in notes.enumerated() { note.insert("\(index)-\(number)") }
        }
        for loop in loops { loop.shutDown() }
        let third = try origins(try SyncLoop())
        let missing = (0..<40).flatMap { ["0-\($0)", "1-\($0)"] }.filter { !third.contains($0) }
        #expect(missing == [])
    }

    @Test func whatIsOverIsForgottenAndTheNewestStay() throws {
        let now = Int(Date().timeIntervalSince1970)
        let month = 30 * 86_400
        _ = try Spool(at: folder.path("state")).store()
        let lines = (0..<LengthOrigins.limit).map { "\(now - 1_000 + $0) \($0)\n" }
        try folder.write(
            Array(("\(now - month - 1) over\ndamaged\n" + lines.joined()).utf8),
            to: "state/length-origins")
        let loop = try SyncLoop()
        let note = try origins(loop)
        #expect(!note.contains("over") && note.contains("0") && note.contains("1"))
        note.insert("new")
        loop.shutDown()
        #expect(!note.contains("0") && note.contains("1") && note.contains("new"))
        let text = String(decoding: try folder.read("state/length-origins"), as: UTF8.self)
        #expect(text.split(separator: "\n").count == LengthOrigins.limit)
        #expect(!text.contains(" 0\n") && text.hasSuffix(" new\n"))
    }
}
