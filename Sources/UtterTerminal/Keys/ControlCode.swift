// SPDX-License-Identifier: Apache-2.0

/// A control sequence (ECMA-48 §5.4) from a terminal.
struct ControlCode {
    /// `?` or its like before the numbers.
    private let mark: UInt8?
    /// Colons separate parts of a parameter, semicolons separate parameters.
    private let numbers: [[Int?]]
    private let final: UInt8

    /// `parameters` stand between `ESC [` and the last byte; nil when no key sends such a sequence.
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

    var startsPaste: Bool { final == UInt8(ascii: "~") && mark == nil && number == 200 }

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
            // A text without a key has the number 0.
            number.flatMap { $0 > 0 ? Unicode.Scalar(UInt32($0)) : nil }.map { KeyCode($0) }
        case UInt8(ascii: "~"): number.flatMap { FunctionKeys.byNumber[$0] }
        case UInt8(ascii: "Z"): .tab
        // With another number it is the answer to a question.
        default: (number ?? 1) == 1 ? FunctionKeys.byLetter[final] : nil
        }
    }

    private func event(of key: KeyCode) -> TerminalInput? {
        let state = numbers.count > 1 ? numbers[1] : [nil]
        let movement = state.count > 1 ? state[1] : nil
        guard let kind = KeyEvent.Kind(rawValue: movement ?? 1) else { return nil }
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

/// The keys that terminals name by a number or a letter, since the VT220.
enum FunctionKeys {
    static let byNumber: [Int: KeyCode] = [
        1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
        11: .function(1), 12: .function(2), 13: .function(3), 14: .function(4), 15: .function(5),
        17: .function(6), 18: .function(7), 19: .function(8), 20: .function(9),
        21: .function(10), 23: .function(11), 24: .function(12),
        // As xterm and the Linux console send them; the VT220 has gaps there.
        25: .function(13), 26: .function(14), 28: .function(15), 29: .function(16),
        31: .function(17), 32: .function(18), 33: .function(19), 34: .function(20),
    ]

    static let byLetter: [UInt8: KeyCode] = [
        UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "C"): .right,
        UInt8(ascii: "D"): .left, UInt8(ascii: "F"): .end, UInt8(ascii: "H"): .home,
        UInt8(ascii: "M"): .enter, UInt8(ascii: "P"): .function(1), UInt8(ascii: "Q"): .function(2),
        UInt8(ascii: "R"): .function(3), UInt8(ascii: "S"): .function(4),
    ]
}
