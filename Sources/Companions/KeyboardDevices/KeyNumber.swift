// SPDX-License-Identifier: Apache-2.0

internal import CEvdev

/// A key by its number in the kernel.
///
/// The number is that of the key's place, whatever the layout.
package struct KeyNumber: Hashable, Sendable {
    /// `linux/input-event-codes.h` lists them.
    let number: UInt16

    /// The default: alone it writes nothing in any program.
    package static let rightControl = KeyNumber(UInt16(KEY_RIGHTCTRL))
    /// Throws a recording away.
    static let escape = KeyNumber(UInt16(KEY_ESC))

    init(_ number: UInt16) { self.number = number }

    /// Names are "right-ctrl", "f13", "KEY_MICMUTE", or "BTN_EXTRA" of a mouse.
    ///
    /// - Returns: nil when the kernel has no such name.
    package init?(named name: String) {
        let plain = name.uppercased()
        let wanted = Self.aliases[plain] ?? plain.filter { $0 != "-" }
        let isWhole = plain.hasPrefix("KEY_") || plain.hasPrefix("BTN_")
        let number = unsafe libevdev_event_code_from_name(
            UInt32(EV_KEY), isWhole ? plain : "KEY_" + wanted)
        guard let number = UInt16(exactly: number) else { return nil }
        self.init(number)
    }

    /// As shown: "right Ctrl", or the kernel's name.
    package var name: String {
        guard let text = unsafe libevdev_event_code_get_name(UInt32(EV_KEY), UInt32(number)) else {
            return "key \(number)"
        }
        let name = unsafe String(cString: text)
        return Self.titles[name] ?? String(name.dropFirst(name.hasPrefix("KEY_") ? 4 : 0))
    }

    /// A button of a mouse, a pad or a pen belongs to no chord of keys.
    var isButton: Bool {
        (UInt16(BTN_MISC)..<UInt16(KEY_OK)).contains(number)
    }

    /// Keys that the terminal and the kernel name differently.
    private static let aliases = [
        "RETURN": "ENTER", "PRINT-SCREEN": "SYSRQ", "MENU": "COMPOSE", "ALT-GR": "RIGHTALT",
        "LEFT-CONTROL": "LEFTCTRL", "RIGHT-CONTROL": "RIGHTCTRL", "LEFT-SUPER": "LEFTMETA",
        "RIGHT-SUPER": "RIGHTMETA",
    ]

    /// Titles of likely keys, as a person writes them.
    private static let titles = [
        "KEY_RIGHTCTRL": "right Ctrl", "KEY_LEFTCTRL": "left Ctrl", "KEY_RIGHTALT": "right Alt",
        "KEY_RIGHTSHIFT": "right Shift", "KEY_RIGHTMETA": "right Super",
        "KEY_SCROLLLOCK": "Scroll Lock", "KEY_CAPSLOCK": "Caps Lock", "KEY_PAUSE": "Pause",
        "KEY_SPACE": "Space", "KEY_COMPOSE": "Menu",
    ]
}

/// The kernel's values of a key's event.
enum KeyMovement: Int32 {
    case release
    case press
    /// Held down, as the keyboard reports again.
    case repetition
}
