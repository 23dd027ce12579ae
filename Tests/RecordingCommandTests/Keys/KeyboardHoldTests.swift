// SPDX-License-Identifier: Apache-2.0

import CEvdev
import Glibc
import TestSupport
import Testing

/// `utter keys --evdev`: real libevdev and the real program; only the kernel's devices are played.
@Suite struct KeyboardHoldTests {
    @Test func aHeldKeyRecordsUntilItsReleaseAndWhatWasDownBeforeBeginsNothing() async throws {
        let (bench, keyboard, keys) = try await KeyboardBench.watching(
            "held", down: [VirtualKeyboard.rightControl])
        #expect(keys.errorText.contains("utter: reading Virtual keyboard event0\n"))
        #expect(keys.errorText.contains("utter: hold right Ctrl and speak"))
        for _ in 0..<20 { try keyboard.move(2, ago: .seconds(3)) }
        try keyboard.move(0, ago: .seconds(2))
        // They are read in order: had one begun a take, this press would be another one's.
        try keyboard.press()
        for _ in 0..<20 { try keyboard.move(2) }
        try await bench.isHeard()
        try keyboard.release()
        #expect(await keys.wait(for: "held\n", in: .output))
        let ended = try await bench.end(keys)
        #expect(ended.status == .exited(130))
        #expect(ended.outputText == "held\n")
        #expect(ended.errorText.matches(of: /recording take/).count == 1)
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
            try await bench.speak(by: keyboard, request: count - 1)
            let all = String(repeating: "alone\n", count: count)
            #expect(await keys.wait(in: .output) { $0 == Array(all.utf8) })
        }
        #expect(try await bench.end(keys).outputText == "alone\nalone\n")
        #expect(try await bench.control.run("status").outputText == "idle\n")
    }

    @Test func aKeyboardThatIsPulledOutWhileTheKeyIsHeldReleasesIt() async throws {
        let (bench, keyboard, keys) = try await KeyboardBench.watching("pulled")
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
        try await bench.speak(by: other, request: 1)
        #expect(await keys.wait(for: "pulled\npulled\n", in: .output))
        _ = try await bench.end(keys)
    }

    @Test func aReleaseThatTheKernelDroppedIsFound() async throws {
        let (bench, keyboard, keys) = try await KeyboardBench.watching("resynced")
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
        let (bench, keyboard, keys) = try await KeyboardBench.watching("said")
        try keyboard.move(1, ago: .milliseconds(200))
        try keyboard.move(1, VirtualKeyboard.letterC, ago: .milliseconds(100))
        try keyboard.move(0, VirtualKeyboard.letterC)
        try keyboard.release()
        #expect(await keys.wait(for: " is cancelled\n", in: .error))
        let ended = try await bench.end(keys)
        #expect(ended.outputText == "")
        #expect(try await bench.control.run("status").outputText == "idle\n")
    }

    @Test func anotherKeyIsChosenByItsNameAndSoAreThePlacesOfTheTexts() async throws {
        let bench = try KeyboardBench(.hearing("chosen"))
        try await bench.daemon()
        let keyboard = try bench.keyboards.plug([VirtualKeyboard.rightControl, 70])
        // One without the key is left alone.
        _ = try bench.keyboards.plug()
        let file = bench.control.bench.folder.path("out.txt")
        let keys = try await bench.watch(
            "--key", "scroll-lock", "--json", "--run", "cat >\(file)")
        #expect(!keys.errorText.contains("event1"))
        try keyboard.press()
        try keyboard.move(1, 70, ago: .seconds(1))
        try await bench.isHeard()
        try keyboard.release()
        try keyboard.move(0, 70)
        #expect(await keys.wait(for: "\"text\":\"chosen\"", in: .output))
        _ = try await bench.end(keys)
        #expect(try readFile(file) == Array("chosen\n".utf8))
    }
}

/// `utter keys --evdev` with a keyboard of the kernel's own.
@Suite struct UInputTests {
    /// F24 is on no keyboard of a person who runs this.
    @Test(.enabled(if: UInputKeyboard.isPossible, "needs /dev/uinput and /dev/input"))
    func aKeyGoesUpByItsReleaseOrWithItsKeyboard() async throws {
        let first = try UInputKeyboard()
        let control = try ControlBench(.hearing("by the kernel"))
        let daemon = try await control.daemon()
        let keys = try control.start("keys", "--evdev", "--key", "f24")
        #expect(await keys.wait(for: "hold F24 and speak", in: .error))
        let words = "reading \(UInputKeyboard.name)"
        #expect(await keys.wait(for: words, in: .error))
        first.move(1)
        _ = try #require(await control.server.wait(untilBytes: 32_000, ofRequest: 0))
        first.move(0)
        #expect(await keys.wait(for: "by the kernel\n", in: .output))
        do {
            let second = try UInputKeyboard()
            #expect(await keys.wait(in: .error) { $0.ranges(of: Array(words.utf8)).count == 2 })
            second.move(1)
            _ = try #require(await control.server.wait(untilBytes: 8_000, ofRequest: 1))
        }
        #expect(await keys.wait(for: "by the kernel\nby the kernel\n", in: .output))
        keys.signal(SIGINT)
        #expect(try await keys.result().outputText == "by the kernel\nby the kernel\n")
        #expect(daemon.status == nil)
    }
}

/// A keyboard with one key, which the kernel shows as any other.
final class UInputKeyboard: Sendable {
    static let name = "utter test keyboard"
    /// Its address, of which one test at a time makes use.
    private let device: Int

    static var isPossible: Bool {
        access("/dev/uinput", W_OK) == 0 && access("/dev/input", R_OK) == 0
    }

    init() throws {
        let description = try #require(libevdev_new())
        defer { libevdev_free(description) }
        libevdev_set_name(description, Self.name)
        libevdev_enable_event_type(description, UInt32(EV_KEY))
        libevdev_enable_event_code(description, UInt32(EV_KEY), UInt32(KEY_F24), nil)
        var made: OpaquePointer?
        let managed = LIBEVDEV_UINPUT_OPEN_MANAGED.rawValue
        try #require(
            libevdev_uinput_create_from_device(description, Int32(managed), &made) == 0)
        let device: OpaquePointer = try #require(made)
        self.device = Int(bitPattern: device)
    }

    deinit { libevdev_uinput_destroy(OpaquePointer(bitPattern: device)) }

    func move(_ value: Int32) {
        let device = OpaquePointer(bitPattern: device)
        _ = libevdev_uinput_write_event(device, UInt32(EV_KEY), UInt32(KEY_F24), value)
        _ = libevdev_uinput_write_event(device, UInt32(EV_SYN), UInt32(SYN_REPORT), 0)
    }
}
