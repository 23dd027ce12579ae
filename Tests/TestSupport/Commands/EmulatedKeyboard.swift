// SPDX-License-Identifier: Apache-2.0

/// What a terminal emulator makes of codes about its keyboard: which modes they set, and what they
/// ask.
package struct EmulatedKeyboard: Equatable {
    /// The flags of the kitty keyboard protocol, the present ones last.
    package private(set) var flags = [0]
    /// The private modes about input that are set, such as 2004 for pastes.
    package private(set) var modes: Set<Int> = []
    /// The answers to all questions so far, in order.
    package private(set) var answers: [String] = []

    /// Reports of another window's focus, and of pastes.
    private static let inputModes = [1_004, 2_004]

    /// The codes about keyboards that `utter` may use, without ESC.
    package static let codes: Set<String> = [
        "[>11u", "[<u", "[?u", "[c", "[=4;2u", "[=0;1u", "[?2004h", "[?2004l", "[?1004h",
        "[?1004l",
    ]

    /// Reads all that was written to a terminal, which may know the kitty keyboard protocol.
    package init(_ screen: [UInt8], speaksKitty: Bool) {
        var rest = screen[...]
        while let start = rest.firstRange(of: [0x1B, UInt8(ascii: "[")]) {
            rest = rest[start.upperBound...]
            guard let end = rest.firstIndex(where: { 0x40...0x7E ~= $0 }) else { return }
            let code = String(decoding: rest[...end], as: UTF8.self)
            rest = rest[(end + 1)...]
            obey(code, speaksKitty: speaksKitty)
        }
    }

    package var isAsBefore: Bool { flags == [0] && modes.isEmpty }

    private mutating func obey(_ code: String, speaksKitty: Bool) {
        let numbers = code.dropFirst().dropLast().split(separator: ";").compactMap { Int($0) }
        switch (code.first, code.last) {
        case ("?", "h"): modes.formUnion(numbers.filter(Self.inputModes.contains))
        case ("?", "l"): modes.subtract(numbers)
        case (_, "c") where code == "c": answers.append("\u{1B}[?62;22c")
        case (_, "u") where !speaksKitty: break
        case (">", "u"): flags.append(numbers.first ?? 0)
        case ("<", "u"):
            flags.removeLast(min(numbers.first ?? 1, flags.count))
            if flags.isEmpty { flags = [0] }
        case ("=", "u"):
            let (bits, mode) = (numbers.first ?? 0, numbers.count > 1 ? numbers[1] : 1)
            let before = flags[flags.count - 1]
            flags[flags.count - 1] = mode == 1 ? bits : mode == 2 ? before | bits : before & ~bits
        case ("?", "u"): answers.append("\u{1B}[?\(flags[flags.count - 1])u")
        default: break
        }
    }
}
