// SPDX-License-Identifier: Apache-2.0

/// What a person did with a key.
struct KeyEvent: Equatable, Sendable {
    /// How a key moved.
    enum Kind: Equatable, Sendable {
        /// It went down; on a terminal that does not report releases, perhaps a repeat.
        case press
        /// It is held.
        case repetition
        /// It went up.
        case release
    }

    var key: KeyCode
    var kind: Kind
    /// What else was down.
    var modifiers: KeyModifiers
    /// The key in the same place of a standard keyboard, where the layout has another there.
    var standardKey: KeyCode?

    /// A press of a key, unless another kind is said.
    init(
        _ key: KeyCode, _ kind: Kind = .press, _ modifiers: KeyModifiers = [],
        standardKey: KeyCode? = nil
    ) {
        (self.key, self.kind, self.modifiers) = (key, kind, modifiers)
        self.standardKey = standardKey
    }

    /// Whether this is about a key, in any layout of the keyboard.
    ///
    /// What stands in its place on a standard keyboard counts where the layout has no Latin letters:
    /// where it has them, the letter on the key is meant.
    func isOf(_ key: KeyCode) -> Bool {
        self.key == key || standardKey == key && !self.key.isASCII
    }

    /// Whether it is this key together with Ctrl alone, in any layout of the keyboard.
    func isControl(_ character: Unicode.Scalar) -> Bool {
        modifiers.command == .control && isOf(KeyCode(character))
    }
}

/// The keys that change what others mean, as bits of the kitty keyboard protocol.
struct KeyModifiers: OptionSet, Hashable, Sendable {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    static let shift = KeyModifiers(rawValue: 1)
    static let alt = KeyModifiers(rawValue: 2)
    static let control = KeyModifiers(rawValue: 4)
    static let `super` = KeyModifiers(rawValue: 8)
    static let hyper = KeyModifiers(rawValue: 16)
    static let meta = KeyModifiers(rawValue: 32)

    /// Those that make a command of a key: not Shift, and not the lights of the keyboard.
    var command: KeyModifiers {
        intersection([.alt, .control, .super, .hyper, .meta])
    }
}

/// What a terminal tells a program that reads its keys.
enum TerminalInput: Equatable, Sendable {
    case key(KeyEvent)
    /// The terminal's window has got the keyboard, or lost it.
    case focus(Bool)
    /// A text was pasted; it is swallowed.
    case pasted
    /// The answer to `CSI ? u`: the flags of the kitty keyboard protocol that are set.
    case keyboardFlags(Int)
    /// The answer to `CSI c` (DA1), which every terminal gives.
    case deviceAttributes
}
