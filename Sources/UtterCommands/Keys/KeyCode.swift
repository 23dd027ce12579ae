// SPDX-License-Identifier: Apache-2.0

/// A key, by the number that the kitty keyboard protocol gives it.
///
/// Keys that write a character have its Unicode number, without Shift; all others have one of the
/// private use area, or of the control characters.
package struct KeyCode: Hashable, Sendable {
    package let number: UInt32

    /// The last number that is no character's.
    private static let lastPrivate: UInt32 = 63_743

    package init(_ number: UInt32) { self.number = number }

    /// The key that writes this character.
    package init(_ character: Unicode.Scalar) { number = character.value }

    /// The function key F1 to F35.
    package static func function(_ index: Int) -> KeyCode { KeyCode(57_363 + UInt32(index)) }

    package static let tab = KeyCode(9)
    package static let enter = KeyCode(13)
    package static let escape = KeyCode(27)
    package static let space = KeyCode(32)
    package static let backspace = KeyCode(127)
    package static let insert = KeyCode(57_348)
    package static let delete = KeyCode(57_349)
    package static let left = KeyCode(57_350)
    package static let right = KeyCode(57_351)
    package static let up = KeyCode(57_352)
    package static let down = KeyCode(57_353)
    package static let pageUp = KeyCode(57_354)
    package static let pageDown = KeyCode(57_355)
    package static let home = KeyCode(57_356)
    package static let end = KeyCode(57_357)
    package static let capsLock = KeyCode(57_358)
    package static let scrollLock = KeyCode(57_359)
    package static let numLock = KeyCode(57_360)
    package static let printScreen = KeyCode(57_361)
    package static let pause = KeyCode(57_362)
    package static let menu = KeyCode(57_363)
    package static let keypadEnter = KeyCode(57_414)
    package static let leftShift = KeyCode(57_441)
    package static let leftControl = KeyCode(57_442)
    package static let leftAlt = KeyCode(57_443)
    package static let leftSuper = KeyCode(57_444)
    package static let leftHyper = KeyCode(57_445)
    package static let leftMeta = KeyCode(57_446)
    package static let rightShift = KeyCode(57_447)
    package static let rightControl = KeyCode(57_448)
    package static let rightAlt = KeyCode(57_449)
    package static let rightSuper = KeyCode(57_450)
    package static let rightHyper = KeyCode(57_451)
    package static let rightMeta = KeyCode(57_452)
    /// AltGr, where the layout has one: the right Alt key of most.
    package static let levelThreeShift = KeyCode(57_453)

    /// Whether it writes a character of ASCII.
    package var isASCII: Bool { number < 0x80 }

    /// Whether a terminal that sends bytes for keys has bytes for this one.
    ///
    /// Modifiers, locks and their like are seen only by a terminal that reports all keys.
    package var hasBytes: Bool {
        switch number {
        case KeyCode.capsLock.number...KeyCode.pause.number: false
        // Behind F20 no terminal agrees with another.
        case KeyCode.function(21).number...Self.lastPrivate: false
        default: true
        }
    }
}
