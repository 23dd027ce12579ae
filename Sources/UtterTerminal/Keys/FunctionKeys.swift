// SPDX-License-Identifier: Apache-2.0

/// The keys that terminals have named by a number or a letter since the VT220.
enum FunctionKeys {
    /// The key of `CSI number ~`.
    static func key(number: Int) -> KeyCode? { byNumber[number] }

    /// The key of `CSI letter` and `ESC O letter`.
    static func key(final: UInt8) -> KeyCode? { byLetter[final] }

    private static let byNumber: [Int: KeyCode] = [
        1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
        11: .function(1), 12: .function(2), 13: .function(3), 14: .function(4), 15: .function(5),
        17: .function(6), 18: .function(7), 19: .function(8), 20: .function(9),
        21: .function(10), 23: .function(11), 24: .function(12),
        // As xterm and the Linux console send them; the VT220 has gaps there.
        25: .function(13), 26: .function(14), 28: .function(15), 29: .function(16),
        31: .function(17), 32: .function(18), 33: .function(19), 34: .function(20),
    ]

    private static let byLetter: [UInt8: KeyCode] = [
        UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "C"): .right,
        UInt8(ascii: "D"): .left, UInt8(ascii: "F"): .end, UInt8(ascii: "H"): .home,
        UInt8(ascii: "M"): .enter, UInt8(ascii: "P"): .function(1), UInt8(ascii: "Q"): .function(2),
        UInt8(ascii: "R"): .function(3), UInt8(ascii: "S"): .function(4),
    ]
}
