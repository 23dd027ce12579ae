// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterControl

@Suite struct ControlPlaceTests {
    private func place(_ variables: [String: String]) throws -> ControlPlace {
        try ControlPlace(user: 1234) { variables[$0] }
    }

    @Test func itIsInTheRuntimeFolder() throws {
        let place = try place(["XDG_RUNTIME_DIR": "/run/user/1234"])
        #expect(place.path == "/run/user/1234/utter/control")
        #expect(place.folder == "/run/user/1234/utter")
        #expect(!place.isGiven)
    }

    @Test(arguments: [[:], ["XDG_RUNTIME_DIR": ""], ["XDG_RUNTIME_DIR": "relative"]])
    func withoutOneItIsInAFolderOfThePersonsOwn(_ variables: [String: String]) throws {
        #expect(try place(variables).path == "/tmp/utter-1234/control")
    }

    @Test func aVariableNamesAnother() throws {
        let place = try place(["UTTER_SOCKET": "/tmp/desk", "XDG_RUNTIME_DIR": "/run/user/1"])
        #expect(place.path == "/tmp/desk")
        #expect(place.isGiven)
    }

    @Test func aRelativeOneIsRefused() throws {
        let failure = #expect(throws: ControlFailure.self) { try place(["UTTER_SOCKET": "desk"]) }
        #expect(failure?.message == "UTTER_SOCKET is 'desk', which is no absolute path")
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
            failure?.message.contains("XDG_RUNTIME_DIR is \(missing), which is not there") == true)
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
