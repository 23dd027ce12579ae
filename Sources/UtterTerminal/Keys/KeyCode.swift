// SPDX-License-Identifier: Apache-2.0

/// A key, by its number in the kitty keyboard protocol.
///
/// Keys that write a character have its Unicode number, without Shift; others have one of the
/// private use area, or of the control characters.
package struct KeyCode: Hashable, Sendable {
    let number: UInt32

    /// The end of the private use area.
    private static let lastPrivate: UInt32 = 63_743

    init(_ number: UInt32) { self.number = number }

    package init(_ character: Unicode.Scalar) { number = character.value }

    static func function(_ index: Int) -> KeyCode { KeyCode(57_363 + UInt32(index)) }

    static let tab = KeyCode(9)
    static let enter = KeyCode(13)
    static let escape = KeyCode(27)
    static let space = KeyCode(32)
    static let backspace = KeyCode(127)
    static let insert = KeyCode(57_348)
    static let delete = KeyCode(57_349)
    static let left = KeyCode(57_350)
    static let right = KeyCode(57_351)
    static let up = KeyCode(57_352)
    static let down = KeyCode(57_353)
    static let pageUp = KeyCode(57_354)
    static let pageDown = KeyCode(57_355)
    static let home = KeyCode(57_356)
    static let end = KeyCode(57_357)
    static let capsLock = KeyCode(57_358)
    static let scrollLock = KeyCode(57_359)
    static let numLock = KeyCode(57_360)
    static let printScreen = KeyCode(57_361)
    static let pause = KeyCode(57_362)
    static let menu = KeyCode(57_363)
    static let keypadEnter = KeyCode(57_414)
    static let leftShift = KeyCode(57_441)
    static let leftControl = KeyCode(57_442)
    static let leftAlt = KeyCode(57_443)
    static let leftSuper = KeyCode(57_444)
    static let leftHyper = KeyCode(57_445)
    static let leftMeta = KeyCode(57_446)
    static let rightShift = KeyCode(57_447)
    static let rightControl = KeyCode(57_448)
    static let rightAlt = KeyCode(57_449)
    static let rightSuper = KeyCode(57_450)
    static let rightHyper = KeyCode(57_451)
    static let rightMeta = KeyCode(57_452)
    /// AltGr: the right Alt key of most layouts that have it.
    static let levelThreeShift = KeyCode(57_453)

    var isASCII: Bool { number < 0x80 }

    /// Whether a terminal sends bytes for this key.
    ///
    /// Only a terminal that reports all keys reports modifiers, locks and the like.
    var hasBytes: Bool {
        switch number {
        case KeyCode.capsLock.number...KeyCode.pause.number: false
        // Behind F20 no terminal agrees with another.
        case KeyCode.function(21).number...Self.lastPrivate: false
        default: true
        }
    }
}
