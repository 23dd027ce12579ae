// SPDX-License-Identifier: Apache-2.0

/// One control sequence (ECMA-48 §5.4) that a terminal has sent, and what it means.
struct ControlCode {
    /// `?` or its like before the numbers, or nil.
    private let mark: UInt8?
    /// The numbers: parts of a parameter stand between colons, parameters between semicolons.
    private let numbers: [[Int?]]
    private let final: UInt8

    /// Takes a sequence apart; nil when it is none that a terminal sends for a key.
    ///
    /// - Parameters:
    ///   - parameters: what stands between `ESC [` and the last byte.
    ///   - final: the last byte.
    init?(parameters: [UInt8], final: UInt8) {
        var rest = parameters[...]
        let mark = rest.first.flatMap { 0x3C...0x3F ~= $0 ? $0 : nil }
        if mark != nil { rest.removeFirst() }
        var numbers: [[Int?]] = [[nil]]
        for byte in rest {
            let (list, part) = (numbers.count - 1, numbers[numbers.count - 1].count - 1)
            switch byte {
            case 0x30...0x39:
                let number = (numbers[list][part] ?? 0) * 10 + Int(byte - 0x30)
                // Above the last Unicode character nothing is a key.
                numbers[list][part] = min(number, 0x11_0000)
            case UInt8(ascii: ":"): numbers[list].append(nil)
            case UInt8(ascii: ";"): numbers.append([nil])
            default: return nil
            }
        }
        (self.mark, self.numbers, self.final) = (mark, numbers, final)
    }

    /// Whether a paste follows.
    var startsPaste: Bool { final == UInt8(ascii: "~") && mark == nil && number == 200 }

    /// What it tells; nil for nothing that is of use.
    var input: TerminalInput? {
        switch (mark, final) {
        case (UInt8(ascii: "?"), UInt8(ascii: "u")): .keyboardFlags(number ?? 0)
        case (UInt8(ascii: "?"), UInt8(ascii: "c")): .deviceAttributes
        case (.some, _): nil
        case (nil, UInt8(ascii: "I")) where number == nil: .focus(true)
        case (nil, UInt8(ascii: "O")) where number == nil: .focus(false)
        default: key.flatMap(event)
        }
    }

    private var number: Int? { numbers[0][0] }

    private var key: KeyCode? {
        switch final {
        case UInt8(ascii: "u"):
            number.flatMap { UInt32(exactly: $0) }.flatMap(Unicode.Scalar.init).flatMap(\.code)
        case UInt8(ascii: "~"): number.flatMap(FunctionKeys.key(number:))
        case UInt8(ascii: "Z"): .tab
        // With another number it is the answer to a question.
        default: (number ?? 1) == 1 ? FunctionKeys.key(final: final) : nil
        }
    }

    private func event(of key: KeyCode) -> TerminalInput? {
        let state = numbers.count > 1 ? numbers[1] : [nil]
        let kind: KeyEvent.Kind
        switch state.count > 1 ? state[1] ?? 1 : 1 {
        case 1: kind = .press
        case 2: kind = .repetition
        case 3: kind = .release
        default: return nil
        }
        let bits = UInt32(max(0, (state[0] ?? 1) - 1))
        var modifiers = KeyModifiers(rawValue: bits)
        if final == UInt8(ascii: "Z") { modifiers.insert(.shift) }
        let standard = numbers[0].count > 2 ? numbers[0][2] : nil
        return .key(
            KeyEvent(
                key, kind, modifiers,
                standardKey: standard.flatMap { UInt32(exactly: $0) }.map(KeyCode.init)))
    }
}

extension Unicode.Scalar {
    /// The key; nothing has the number 0, which a text without a key has.
    fileprivate var code: KeyCode? { value == 0 ? nil : KeyCode(self) }
}
