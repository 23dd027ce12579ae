// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterControl

/// What goes over the control socket, without the socket.
@Suite struct ControlLineTests {
    private func request(_ text: String) throws -> ControlRequest {
        try ControlRequest(line: Array(text.utf8))
    }

    @Test func linesComeInPiecesOfAnySize() {
        let text = Array("one\n\ntwo\nhalf".utf8)
        for size in 1...text.count {
            var line = ControlLine(limit: 16)
            var lines: [String] = []
            for start in stride(from: 0, to: text.count, by: size) {
                line.append(Array(text[start..<min(start + size, text.count)]))
                while let next = line.next() { lines.append(String(decoding: next, as: UTF8.self)) }
            }
            #expect(lines == ["one", "", "two"])
            #expect(!line.isTooLong)
        }
    }

    @Test func aLineIsBounded() {
        var line = ControlLine(limit: 4)
        line.append(Array("four\n".utf8))
        #expect(line.next()?.count == 4)
        line.append(Array("fiver".utf8))
        #expect(line.next() == nil)
        #expect(line.isTooLong)
        var ended = ControlLine(limit: 4)
        ended.append(Array("fiver\nfour\n".utf8))
        #expect(ended.next() == nil)
        #expect(ended.isTooLong)
    }

    @Test func aRequestIsReadAndWritten() throws {
        let stop = ControlRequest(.stop, take: "20261122T091500Z-abcd", report: true)
        #expect(
            String(decoding: stop.line, as: UTF8.self)
                == #"{"command":"stop","report":true,"take":"20261122T091500Z-abcd","version":1}"#
                + "\n")
        #expect(try ControlRequest(line: stop.line.dropLast()) == stop)
        #expect(
            try request(#"{"version":1,"command":"start","more":[1]}"#) == ControlRequest(.start))
    }

    @Test(arguments: [
        ("", ControlMistake.unreadable), ("start", .unreadable), ("{}", .unreadable),
        (#"{"version":"1","command":"start"}"#, .unreadable),
        (#"{"version":2,"command":"start"}"#, .version(2)),
        (#"{"version":1}"#, .command("")), (#"{"version":1,"command":"rm"}"#, .command("rm")),
        (#"{"version":1,"command":"stop","take":7}"#, .unreadable),
    ])
    func whatIsNoRequestIsRefusedWithTheReason(_ text: String, _ mistake: ControlMistake) {
        #expect(throws: mistake) { try request(text) }
        #expect(!mistake.description.isEmpty)
    }

    @Test func bytesThatAreNoTextAreNoRequest() {
        #expect(throws: ControlMistake.unreadable) { try ControlRequest(line: [0xFF, 0x00, 0x22]) }
        let deep = Array(String(repeating: "[", count: 4_000).utf8)
        #expect(throws: ControlMistake.unreadable) { try ControlRequest(line: deep) }
    }

    @Test func anAnswerIsReadAndWritten() throws {
        var result = ControlAnswer(.result, take: "id")
        (result.exit, result.text) = (0, "say \"so\"\nand more")
        result.lines = [.hint("hear it")]
        #expect(ControlAnswer(line: result.line.dropLast()) == result)
        #expect(ControlAnswer(line: Array(#"{"version":2,"kind":"done"}"#.utf8)) == nil)
        #expect(ControlAnswer(line: []) == nil)
    }

    @Test func whatIsHeardIsToldFromItsEnd() {
        var status = ControlStatus()
        status.hear(String(repeating: "a", count: 3_000) + "z")
        #expect(status.text.count == 2_000)
        #expect(status.text.last == "z")
    }
}

@Suite struct ControlPlaceTests {
    private func place(_ variables: [String: String]) throws -> SocketPlace {
        try SocketPlace(user: 1234) { variables[$0] }
    }

    /// In the runtime folder; without one, in a folder of the person's own; where a variable says.
    @Test(arguments: [
        (["XDG_RUNTIME_DIR": "/run/user/1234"], "/run/user/1234/utter", "control"),
        ([:], "/tmp/utter-1234", "control"),
        (["XDG_RUNTIME_DIR": ""], "/tmp/utter-1234", "control"),
        (["XDG_RUNTIME_DIR": "relative"], "/tmp/utter-1234", "control"),
        (["UTTER_SOCKET": "/tmp/desk", "XDG_RUNTIME_DIR": "/run/user/1"], "/tmp", "desk"),
    ])
    func itsFolderIsTheSessionsUnlessAVariableNamesAnother(
        _ variables: [String: String], _ folder: String, _ name: String
    ) throws {
        let place = try place(variables)
        #expect(place.path == "\(folder)/\(name)")
        #expect(place.folder == folder)
        #expect(place.isGiven == (name == "desk"))
    }

    @Test func aRelativeOneIsRefused() throws {
        let failure = #expect(throws: ControlFailure.self) { try place(["UTTER_SOCKET": "desk"]) }
        #expect(failure?.message == "UTTER_SOCKET is 'desk', but must be an absolute path")
        #expect(failure?.exit == 78)
    }

    @Test func aPathThatIsTooLongSaysSo() throws {
        let long = "/run/" + String(repeating: "x", count: 100)
        let failure = #expect(throws: ControlFailure.self) {
            try place(["XDG_RUNTIME_DIR": long])
        }
        #expect(
            failure?.message.hasPrefix(
                "the control socket's path is too long for the system: 119 bytes, at most 106: ")
                == true, "\(failure?.message ?? "")")
        #expect(failure?.hint == "name a shorter one with UTTER_SOCKET")
        // As long as it may be.
        let fitting = "/run/" + String(repeating: "x", count: 87)
        #expect(try place(["XDG_RUNTIME_DIR": fitting]).path.utf8.count == 106)
    }

    @Test func theFolderOfTheSessionIsNotMade() throws {
        let folder = try TemporaryFolder()
        let missing = folder.path("nope")
        let failure = #expect(throws: ControlFailure.self) {
            try place(["XDG_RUNTIME_DIR": missing]).prepareFolder()
        }
        #expect(
            failure?.message.contains("XDG_RUNTIME_DIR is \(missing), which does not exist") == true
        )
        #expect(try folder.names(in: ".").isEmpty)
    }

    @Test func aFolderThatOthersMayWriteInIsRefused() throws {
        let folder = try TemporaryFolder()
        let place = try place(["XDG_RUNTIME_DIR": folder.path])
        try place.prepareFolder()
        #expect(try folder.names(in: ".") == ["utter"])
        #expect(chmod(folder.path("utter"), 0o777) == 0)
        let failure = #expect(throws: ControlFailure.self) { try place.prepareFolder() }
        #expect(failure?.message.contains("cannot be trusted: others may write in it") == true)
        #expect(failure?.exit == 78)
    }
}
