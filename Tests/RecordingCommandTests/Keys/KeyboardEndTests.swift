// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Utter
@testable import UtterControl

/// `utter keys --evdev` where something is missing, and how it ends.
@Suite struct KeyboardEndTests {
    @Test func aKeyADeviceOrARightThatThereIsNotIsSaid() async throws {
        let bench = try KeyboardBench(.hearing(""))
        _ = try bench.keyboards.plug(isReadable: false)
        let noKey = try await bench.start(["--key", "hyper-space"]).result()
        #expect(noKey.status == .exited(64))
        #expect(
            noKey.errorText.hasPrefix(
                "utter: error: --key: 'hyper-space' is not a key of a keyboard\nutter: hint: "))
        let noRight = try await bench.start([]).result()
        #expect(noRight.status == .exited(78))
        #expect(noRight.output == [])
        #expect(
            noRight.errorText
                == "utter: error: no keyboard may be read: open /dev/input/event0: Permission "
                + "denied\nutter: hint: who has that right sees every key that is typed, passwords "
                + "too; 'utter keys --help' says how to give it, and what needs none\n")
        let noDevice = try await bench.control.bench.start(
            ["keys", "--evdev"],
            variables: bench.keyboards.environment.merging(
                ["UTTER_TEST_INPUT": bench.keyboards.folder.path("none")]) { $1 }
        ).result()
        #expect(noDevice.status == .exited(66))
        #expect(
            noDevice.errorText
                == "utter: error: there are no keyboards to be read: watch /dev/input: No such file "
                + "or directory\nutter: hint: use the desktop's own shortcuts: utter keys --portal, "
                + "or utter setup binds\n")
    }

    /// Without a keyboard it waits for one, and for the right to read one.
    @Test func aSignalIsATapAnotherGivesUpAndAKeyboardMayComeLater() async throws {
        let bench = try KeyboardBench(.hearing("go"))
        try await bench.daemon()
        let keys = try await bench.watch()
        #expect(keys.errorText.contains("utter: no keyboard has right Ctrl; waiting for one\n"))
        keys.signal(SIGUSR1)
        #expect(await keys.wait(for: "recording goes on; press right Ctrl", in: .error))
        try await bench.isHeard()
        keys.signal(SIGUSR1)
        #expect(await keys.wait(for: "go\n", in: .output))
        keys.signal(SIGUSR1)
        try await bench.isHeard(request: 1)
        keys.signal(SIGUSR2)
        #expect(await keys.wait(for: " is cancelled\n", in: .error))
        let keyboard = try bench.keyboards.plug()
        #expect(await keys.wait(for: "utter: reading Virtual keyboard event0\n", in: .error))
        let late = try bench.keyboards.plug(isReadable: false)
        late.permit()
        #expect(await keys.wait(for: "utter: reading Virtual keyboard event1\n", in: .error))
        try await bench.speak(by: keyboard, request: 2)
        #expect(await keys.wait(for: "go\ngo\n", in: .output))
        #expect(try await bench.end(keys).outputText == "go\ngo\n")
    }

    @Test(
        arguments: [
            (
                ["UTTER_SOCKET": "/nowhere/utter.sock"],
                "no utter answers at /nowhere/utter.sock, which UTTER_SOCKET", 1
            ),
            // Said by the recorder, and here unless that has ended before it could answer.
            (["UTTER_URL": "ftp://nowhere/"], "UTTER_URL: ", 2),
        ] as [([String: String], String, Int)])
    func whereNothingCanBeRecordedEachPressSaysWhyAndTheKeyIsWatchedOn(
        _ variables: [String: String], _ reason: String, _ speakers: Int
    ) async throws {
        let bench = try KeyboardBench(.hearing(""), variables)
        let keyboard = try bench.keyboards.plug()
        let keys = try await bench.watch()
        for count in 1...2 {
            try keyboard.press()
            try keyboard.release()
            #expect(
                await keys.wait(in: .error) {
                    let said = $0.ranges(of: Array("utter: error: \(reason)".utf8)).count
                    return speakers == 1 ? said == count : said >= count
                }, "\(keys.errorText)")
        }
        let ended = try await bench.end(keys)
        #expect(ended.status == .exited(130))
        #expect(ended.outputText == "")
    }

    @Test func aSignalWhileTheKeyIsHeldSendsWhatWasSaid() async throws {
        let bench = try KeyboardBench(.hearing("to the end"))
        try await bench.daemon()
        for (number, signal) in [SIGTERM, SIGINT, SIGHUP].enumerated() {
            let keyboard = try bench.keyboards.plug()
            let keys = try await bench.watch()
            try keyboard.press()
            try await bench.isHeard(request: number)
            keys.signal(signal)
            let ended = try await keys.result()
            #expect(ended.status == .exited(128 + signal))
            #expect(ended.outputText == "to the end\n")
            keyboard.unplug()
        }
    }

    @Test func whatEndsByItselfIsPrintedToo() async throws {
        let (bench, keyboard, keys) = try await KeyboardBench.watching(
            "at the limit", daemon: ["--max", "300ms"])
        try keyboard.tap()
        #expect(await keys.wait(for: "at the limit\n", in: .output))
        // The next tap begins the next take, and does not end the last one.
        try keyboard.tap()
        #expect(await keys.wait(for: "at the limit\nat the limit\n", in: .output))
        _ = try await bench.end(keys)
        #expect(bench.server.requests.count == 2)
    }

    @Test func aKeyThatIsHeldWhenTheProgramIsKilledEndsItsRecording() async throws {
        let (bench, keyboard, keys) = try await KeyboardBench.watching("kept")
        try keyboard.press()
        try await bench.isHeard()
        keys.signal(SIGKILL)
        #expect(try await keys.result().outputText == "")
        #expect(try await bench.control.reaches(.idle))
        #expect(try await bench.control.run("last").outputText == "kept\n")
    }

    @Test func aLateReleaseLeavesTheTakeOfAnotherAlone() async throws {
        let (bench, keyboard, keys) = try await KeyboardBench.watching("from elsewhere")
        try keyboard.press()
        try await bench.isHeard()
        #expect(try await bench.control.run("stop").outputText == "from elsewhere\n")
        #expect(try await bench.control.run("start").status == .exited(0))
        try await bench.isHeard(request: 1)
        try keyboard.release()
        #expect(try await bench.end(keys).outputText == "")
        #expect(try await bench.control.status().phase == .recording)
        #expect(try await bench.control.run("stop").outputText == "from elsewhere\n")
    }
}
