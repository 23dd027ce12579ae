// SPDX-License-Identifier: Apache-2.0

import CEvdev
import Glibc
import TestSupport
import Testing

/// `utter keys --evdev` with a keyboard of the kernel's own.
@Suite struct UInputTests {
    @Test(.enabled(if: UInputKeyboard.isPossible, "needs /dev/uinput and /dev/input"))
    func aHeldKeyRecordsUntilItsRelease() async throws {
        let control = try ControlBench(.hearing("by the kernel"))
        let daemon = try await control.daemon()
        let keyboard = try UInputKeyboard()
        // F24 is on no keyboard of a person who runs this.
        let keys = try control.start("keys", "--evdev", "--key", "f24")
        #expect(await keys.wait(for: "reading \(UInputKeyboard.name)", in: .error))
        #expect(await keys.wait(for: "hold F24 and speak", in: .error))
        keyboard.move(1)
        _ = try #require(await control.server.wait(untilBytes: 32_000, ofRequest: 0))
        keyboard.move(0)
        #expect(await keys.wait(for: "by the kernel\n", in: .output))
        keys.signal(SIGINT)
        #expect(try await keys.result().outputText == "by the kernel\n")
        #expect(daemon.status == nil)
    }

    @Test(.enabled(if: UInputKeyboard.isPossible, "needs /dev/uinput and /dev/input"))
    func aKeyboardThatGoesLetsTheKeyGo() async throws {
        let control = try ControlBench(.hearing("unplugged"))
        let daemon = try await control.daemon()
        let keys = try control.start("keys", "--evdev", "--key", "f24")
        #expect(await keys.wait(for: "hold F24 and speak", in: .error))
        do {
            let keyboard = try UInputKeyboard()
            #expect(await keys.wait(for: "reading \(UInputKeyboard.name)", in: .error))
            keyboard.move(1)
            _ = try #require(await control.server.wait(untilBytes: 8_000, ofRequest: 0))
        }
        #expect(await keys.wait(for: "unplugged\n", in: .output))
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
