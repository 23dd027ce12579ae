// SPDX-License-Identifier: Apache-2.0

struct KeyEvent: Equatable, Sendable {
    /// As numbers of the kitty keyboard protocol.
    enum Kind: Int {
        /// On a terminal that does not report releases, perhaps a repeat.
        case press = 1
        case repetition
        case release
    }

    var key: KeyCode
    var kind: Kind
    /// Also down.
    var modifiers: KeyModifiers
    /// The key in this place of a standard keyboard, if it is another one.
    var standardKey: KeyCode?

    init(
        _ key: KeyCode, _ kind: Kind = .press, _ modifiers: KeyModifiers = [],
        standardKey: KeyCode? = nil
    ) {
        (self.key, self.kind, self.modifiers) = (key, kind, modifiers)
        self.standardKey = standardKey
    }

    /// In any layout.
    ///
    /// Where the layout has no Latin letters, the key in the same place of a standard keyboard
    /// counts.
    func isOf(_ key: KeyCode) -> Bool {
        self.key == key || standardKey == key && !self.key.isASCII
    }

    /// With Ctrl alone, in any layout.
    func isControl(_ character: Unicode.Scalar) -> Bool {
        modifiers.command == .control && isOf(KeyCode(character))
    }
}

/// As bits of the kitty keyboard protocol.
struct KeyModifiers: OptionSet {
    let rawValue: UInt32

    static let shift = KeyModifiers(rawValue: 1)
    static let alt = KeyModifiers(rawValue: 2)
    static let control = KeyModifiers(rawValue: 4)
    static let `super` = KeyModifiers(rawValue: 8)
    static let hyper = KeyModifiers(rawValue: 16)
    static let meta = KeyModifiers(rawValue: 32)

    /// The modifiers that make a command of a key: not Shift, and not the locks.
    var command: KeyModifiers {
        intersection([.alt, .control, .super, .hyper, .meta])
    }
}

enum TerminalInput: Equatable, Sendable {
    case key(KeyEvent)
    /// The terminal's window has the keyboard, or lost it.
    case focus(Bool)
    /// The text itself is dropped.
    case pasted
    /// The answer to `CSI ? u`: the flags of the kitty keyboard protocol.
    case keyboardFlags(Int)
    /// The answer to `CSI c` (DA1), which every terminal gives.
    case deviceAttributes
}
