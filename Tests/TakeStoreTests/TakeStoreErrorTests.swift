// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import LinuxPlatform
@testable import TakeStore

@Suite struct TakeStoreErrorTests {
    @Test(
        arguments: [
            (TakeStoreError.noSuchTake("2026"), "there is no take '2026'"),
            (.noSuchTake("last"), "there is no take yet"),
            (
                .audioGone(take: "t", wasAnswered: true),
                "take t has been answered, and its audio deleted"
            ),
            (.audioGone(take: "t", wasAnswered: false), "the audio of take t is gone"),
            (
                .ambiguous(
                    "2026", ["a", "b"].compactMap { TakeID("20261121-052233-aaaaaaaaaaa\($0)") }),
                "'2026' matches 2 takes"
            ),
            (
                .unreadable(take: "t", reason: "take.json is damaged"),
                "take t cannot be read: take.json is damaged"
            ),
            (
                .laterVersion(take: "t", version: 2),
                "take t was written by a later utter (version 2 of take.json)"
            ),
            (
                .folderUnusable(path: "/x", reason: "mkdir /x: Permission denied"),
                "takes cannot be kept in '/x': mkdir /x: Permission denied"
            ),
        ] as [(TakeStoreError, String)])
    func anErrorSaysWhatHappened(error: TakeStoreError, description: String) {
        #expect(error.description == description)
        #expect("\(error)" == description)
    }

    @Test func aSystemErrorSaysWhatTheSystemSays() {
        let error = SystemError(call: "open /x", code: ENOENT)
        #expect(error.reason == "No such file or directory")
        #expect(error.description == "open /x: No such file or directory")
        #expect("\(error)" == error.description)
        #expect(SystemError(call: "call", code: 9_999).reason == "Unknown error 9999")
    }
}
