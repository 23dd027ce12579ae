// SPDX-License-Identifier: Apache-2.0

/// What a person did with a key.
package struct KeyEvent: Equatable, Sendable {
    /// How a key moved.
    package enum Kind: Equatable, Sendable {
        /// It went down; on a terminal that does not report releases, perhaps a repeat.
        case press
        /// It is held.
        case repetition
        /// It went up.
        case release
    }

    package var key: KeyCode
    package var kind: Kind
    /// What else was down.
    package var modifiers: KeyModifiers
    /// The key in the same place of a standard keyboard, where the layout has another there.
    package var standardKey: KeyCode?

    /// A press of a key, unless another kind is said.
    package init(
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
    package func isOf(_ key: KeyCode) -> Bool {
        self.key == key || standardKey == key && !self.key.isASCII
    }

    /// Whether it is this key together with Ctrl alone, in any layout of the keyboard.
    package func isControl(_ character: Unicode.Scalar) -> Bool {
        modifiers.command == .control && isOf(KeyCode(character))
    }
}

/// The keys that change what others mean, as bits of the kitty keyboard protocol.
package struct KeyModifiers: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let shift = KeyModifiers(rawValue: 1)
    package static let alt = KeyModifiers(rawValue: 2)
    package static let control = KeyModifiers(rawValue: 4)
    package static let `super` = KeyModifiers(rawValue: 8)
    package static let hyper = KeyModifiers(rawValue: 16)
    package static let meta = KeyModifiers(rawValue: 32)

    /// Those that make a command of a key: not Shift, and not the lights of the keyboard.
    package var command: KeyModifiers {
        intersection([.alt, .control, .super, .hyper, .meta])
    }
}
