// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `utter keys --evdev`: real libevdev and the real program; only the kernel's devices are played.
@Suite struct KeyboardHoldTests {
    @Test func aHeldKeyRecordsUntilItsRelease() async throws {
        let bench = try KeyboardBench(.hearing("held"))
        try await bench.daemon()
        let keyboard = try bench.keyboards.plug()
        let keys = try await bench.watch()
        #expect(keys.errorText.contains("utter: reading Virtual keyboard event0\n"))
        #expect(keys.errorText.contains("utter: hold right Ctrl and speak"))
        try keyboard.press()
        try await bench.isHeard()
        try keyboard.release()
        #expect(await keys.wait(for: "held\n", in: .output))
        let ended = try await bench.end(keys)
        #expect(ended.status == .exited(130))
        #expect(ended.outputText == "held\n")
        #expect(bench.server.requests.count == 1)
        #expect(bench.keyboards.complaints == "")
        // It is a client, and ends no daemon.
        #expect(!bench.hasDaemonEnded)
    }

    @Test func withoutADaemonItStartsARecorder() async throws {
        let bench = try KeyboardBench(.hearing("alone"))
        let keyboard = try bench.keyboards.plug()
        let keys = try await bench.watch()
        for count in 1...2 {
            try keyboard.press()
            try await bench.isHeard(request: count - 1)
            try keyboard.release()
            let all = String(repeating: "alone\n", count: count)
            #expect(await keys.wait(in: .output) { $0 == Array(all.utf8) })
        }
        #expect(try await bench.end(keys).outputText == "alone\nalone\n")
        #expect(try await bench.control.run("status").outputText == "idle\n")
    }

    @Test func whatWasDownBeforeAndRepeatsBeginNothing() async throws {
        let bench = try KeyboardBench(.hearing("pressed"))
        try await bench.daemon()
        let keyboard = try bench.keyboards.plug(down: [VirtualKeyboard.rightControl])
        let keys = try await bench.watch()
        for _ in 0..<20 { try keyboard.move(2, ago: .seconds(3)) }
        try keyboard.move(0, ago: .seconds(2))
        // They are read in order: had one begun a take, this press would be another one's.
        try keyboard.press()
        for _ in 0..<20 { try keyboard.move(2) }
        try await bench.isHeard()
        try keyboard.release()
        #expect(await keys.wait(for: "pressed\n", in: .output))
        let ended = try await bench.end(keys)
        #expect(ended.errorText.matches(of: /recording take/).count == 1)
        #expect(bench.server.requests.count == 1)
    }

    @Test func aKeyboardThatIsPulledOutWhileTheKeyIsHeldReleasesIt() async throws {
        let bench = try KeyboardBench(.hearing("pulled"))
        try await bench.daemon()
        let keyboard = try bench.keyboards.plug()
        let keys = try await bench.watch()
        // Also so soon that a release would be a tap: without the key nothing would end it.
        try keyboard.move(1)
        try await bench.isHeard()
        keyboard.unplug()
        #expect(await keys.wait(for: "pulled\n", in: .output))
        #expect(keys.errorText.contains("utter: Virtual keyboard event0 is gone\n"))
        #expect(!keys.errorText.contains("recording goes on"))
        // Plugged in again, under the next name.
        let other = try bench.keyboards.plug()
        #expect(await keys.wait(for: "reading Virtual keyboard event1\n", in: .error))
        try other.press()
        try await bench.isHeard(request: 1)
        try other.release()
        #expect(await keys.wait(for: "pulled\npulled\n", in: .output))
        _ = try await bench.end(keys)
    }

    @Test func aReleaseThatTheKernelDroppedIsFound() async throws {
        let bench = try KeyboardBench(.hearing("resynced"))
        try await bench.daemon()
        let keyboard = try bench.keyboards.plug()
        let keys = try await bench.watch()
        try keyboard.press()
        try await bench.isHeard()
        try keyboard.drop(until: [])
        #expect(await keys.wait(for: "resynced\n", in: .output))
        // And so is a press.
        try keyboard.drop(until: [VirtualKeyboard.rightControl])
        try await bench.isHeard(request: 1)
        keyboard.unplug()
        #expect(await keys.wait(for: "resynced\nresynced\n", in: .output))
        _ = try await bench.end(keys)
    }

    @Test func aShortcutWithTheKeyThrowsAway() async throws {
        let bench = try KeyboardBench(.hearing("said"))
        try await bench.daemon()
        let keyboard = try bench.keyboards.plug()
        let keys = try await bench.watch()
        try keyboard.move(1, ago: .milliseconds(200))
        try keyboard.move(1, VirtualKeyboard.letterC, ago: .milliseconds(100))
        try keyboard.move(0, VirtualKeyboard.letterC)
        try keyboard.release()
        #expect(await keys.wait(for: " is cancelled\n", in: .error))
        // Later another key is none of ours, but for Escape.
        try keyboard.press()
        #expect(await keys.wait(in: .error) { $0.ranges(of: Array("recording".utf8)).count == 2 })
        try keyboard.move(1, VirtualKeyboard.letterC)
        try keyboard.move(1, VirtualKeyboard.escape)
        #expect(await keys.wait(in: .error) { $0.ranges(of: Array("is cancel".utf8)).count == 2 })
        try keyboard.release()
        let ended = try await bench.end(keys)
        #expect(ended.outputText == "")
        #expect(try await bench.control.run("status").outputText == "idle\n")
    }

    @Test func anotherKeyIsChosenByItsName() async throws {
        let bench = try KeyboardBench(.hearing("chosen"))
        try await bench.daemon()
        let keyboard = try bench.keyboards.plug([VirtualKeyboard.rightControl, 70])
        // One without the key is left alone.
        _ = try bench.keyboards.plug()
        let keys = try await bench.watch("--key", "scroll-lock")
        #expect(!keys.errorText.contains("event1"))
        try keyboard.press()
        try keyboard.move(1, 70, ago: .seconds(1))
        try await bench.isHeard()
        try keyboard.release()
        try keyboard.move(0, 70)
        #expect(await keys.wait(for: "chosen\n", in: .output))
        _ = try await bench.end(keys)
    }
}
