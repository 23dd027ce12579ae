// SPDX-License-Identifier: Apache-2.0

/// Reads what a terminal sends for keys: one byte at a time, so wherever it was split.
///
/// Pure. Knows the escape codes of the kitty keyboard protocol and those of ECMA-48 and xterm for
/// keys, pastes and focus. Unknown sequences are swallowed. Its memory is bounded, and so is each
/// sequence: one that does not end is given up.
struct KeyDecoder {
    private enum State: Equatable {
        case ground
        /// ESC: the key, Alt, or the start of a sequence.
        case escape
        /// After `ESC [`.
        case control
        /// After `ESC O`.
        case function
        /// After `ESC [ [`, as the Linux console sends F1 to F5.
        case consoleFunction
        /// A string for the program (OSC, DCS and others), up to BEL or `ESC \`.
        case string(isEscaped: Bool, count: Int)
        /// A paste; `matched` bytes of its end have come.
        case paste(matched: Int)
        case character(bits: UInt32, missing: Int)
    }

    /// The longest known code has 30 bytes of parameters.
    private static let parameterLimit = 64
    /// The bytes that a sequence without an end may swallow.
    private static let sequenceLimit = 4_096
    /// `ESC [ 201 ~`.
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    /// Without a byte for this long, an ESC is the key.
    static let escapeTime = Duration.milliseconds(100)
    /// Without a byte for this long, anything else is given up.
    static let sequenceTime = Duration.seconds(1)

    /// The same for a paste, whose end may still come and must not become keys.
    static let pasteTime = Duration.seconds(5)

    private var state = State.ground
    private var parameters: [UInt8] = []
    private var length = 0
    private var hasAlt = false

    /// How long to wait for the next byte before `idle`; nil: for ever.
    var patience: Duration? {
        switch state {
        case .ground: nil
        case .escape: Self.escapeTime
        case .paste: Self.pasteTime
        default: Self.sequenceTime
        }
    }

    var isInPaste: Bool {
        if case .paste = state { true } else { false }
    }

    /// - Returns: the input that this byte completes, or nil.
    mutating func decode(_ byte: UInt8) -> TerminalInput? {
        switch state {
        case .ground: return begin(byte, [])
        case .escape: return afterEscape(byte)
        case .control: return inControl(byte)
        case .function:
            state = .ground
            guard 0x40...0x7E ~= byte else { return begin(byte, []) }
            return FunctionKeys.byLetter[byte].map { .key(KeyEvent($0)) }
        case .consoleFunction:
            state = .ground
            guard 0x40...0x7E ~= byte else { return begin(byte, []) }
            guard 0x41...0x45 ~= byte else { return nil }
            return .key(KeyEvent(.function(Int(byte) - 0x40)))
        case .string(let isEscaped, let count):
            inString(byte, isEscaped, count)
            return nil
        case .paste(let matched): return inPaste(byte, matched)
        case .character(let bits, let missing): return inCharacter(byte, bits, missing)
        }
    }

    /// To be called when no byte has come for `time`.
    ///
    /// - Returns: the Escape key, when the ESC was one.
    mutating func idle(for time: Duration) -> TerminalInput? {
        guard let patience, time >= patience else { return nil }
        let isKey = state == .escape
        state = .ground
        return isKey ? .key(KeyEvent(.escape)) : nil
    }

    // MARK: - Bytes

    private mutating func begin(_ byte: UInt8, _ modifiers: KeyModifiers) -> TerminalInput? {
        state = .ground
        hasAlt = modifiers.contains(.alt)
        switch byte {
        case 0x1B: state = .escape
        case 0xC2...0xDF: state = .character(bits: UInt32(byte & 0x1F), missing: 1)
        case 0xE0...0xEF: state = .character(bits: UInt32(byte & 0x0F), missing: 2)
        case 0xF0...0xF4: state = .character(bits: UInt32(byte & 0x07), missing: 3)
        case 0x80...: break
        default: return .key(Self.event(byte, modifiers))
        }
        return nil
    }

    static func event(_ byte: UInt8, _ modifiers: KeyModifiers = []) -> KeyEvent {
        switch byte {
        case 0x00: KeyEvent(.space, .press, modifiers.union(.control))
        case 0x08, 0x7F: KeyEvent(.backspace, .press, modifiers)
        case 0x09: KeyEvent(.tab, .press, modifiers)
        case 0x0A, 0x0D: KeyEvent(.enter, .press, modifiers)
        // Ctrl takes bits away from the character of the key.
        case 0x01...0x1A: KeyEvent(KeyCode(UInt32(byte) + 0x60), .press, modifiers.union(.control))
        case 0x1C...0x1F: KeyEvent(KeyCode(UInt32(byte) + 0x40), .press, modifiers.union(.control))
        case 0x41...0x5A: KeyEvent(KeyCode(UInt32(byte) + 0x20), .press, modifiers.union(.shift))
        default: KeyEvent(KeyCode(UInt32(byte)), .press, modifiers)
        }
    }

    private mutating func inCharacter(
        _ byte: UInt8, _ bits: UInt32, _ missing: Int
    ) -> TerminalInput? {
        // A byte that does not continue the character begins something else.
        guard 0x80...0xBF ~= byte else { return begin(byte, []) }
        let bits = bits << 6 | UInt32(byte & 0x3F)
        guard missing == 1 else {
            state = .character(bits: bits, missing: missing - 1)
            return nil
        }
        state = .ground
        return Unicode.Scalar(bits).map { .key(KeyEvent(KeyCode($0), .press, hasAlt ? .alt : [])) }
    }

    // MARK: - Sequences

    private mutating func afterEscape(_ byte: UInt8) -> TerminalInput? {
        (parameters, length) = ([], 0)
        switch byte {
        case 0x1B: return .key(KeyEvent(.escape))
        case UInt8(ascii: "["): state = .control
        case UInt8(ascii: "O"): state = .function
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"),
            UInt8(ascii: "_"):
            state = .string(isEscaped: false, count: 0)
        default: return begin(byte, .alt)
        }
        return nil
    }

    private mutating func inControl(_ byte: UInt8) -> TerminalInput? {
        length += 1
        switch byte {
        case 0x20...0x3F:
            if length > Self.sequenceLimit { state = .ground }
            if parameters.count <= Self.parameterLimit { parameters.append(byte) }
            return nil
        case UInt8(ascii: "[") where length == 1:
            state = .consoleFunction
            return nil
        case 0x40...0x7E:
            state = .ground
            guard parameters.count <= Self.parameterLimit else { return nil }
            let code = ControlCode(parameters: parameters, final: byte)
            guard code?.startsPaste == true else { return code?.input }
            state = .paste(matched: 0)
            return .pasted
        default:
            // No such byte stands in a sequence: it was none, or is broken.
            return begin(byte, [])
        }
    }

    private mutating func inString(_ byte: UInt8, _ isEscaped: Bool, _ count: Int) {
        let isOver = byte == 0x07 || isEscaped && byte == UInt8(ascii: "\\")
        state =
            isOver || count >= Self.sequenceLimit
            ? .ground : .string(isEscaped: byte == 0x1B, count: count + 1)
    }

    private mutating func inPaste(_ byte: UInt8, _ matched: Int) -> TerminalInput? {
        // ESC stands at the front of the end alone, so nothing else can begin it.
        let next = byte == Self.pasteEnd[matched] ? matched + 1 : byte == 0x1B ? 1 : 0
        state = next == Self.pasteEnd.count ? .ground : .paste(matched: next)
        return nil
    }
}
