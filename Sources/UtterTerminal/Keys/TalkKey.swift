// SPDX-License-Identifier: Apache-2.0

/// The talk key, as `--key` names it.
package struct TalkKey: Equatable, Sendable {
    package let name: String
    package let codes: [KeyCode]
    package static let space = TalkKey("space", [.space])

    private init(_ name: String, _ codes: [KeyCode]) { (self.name, self.codes) = (name, codes) }

    /// By a name or a character.
    package init?(named name: String) {
        let plain = name.lowercased()
        if let codes = Self.byName[plain] {
            self.init(plain, codes)
        } else if plain.hasPrefix("f"), let index = Int(plain.dropFirst()), 1...24 ~= index {
            self.init(plain, [.function(index)])
        } else if let scalar = plain.unicodeScalars.first, plain.unicodeScalars.count == 1,
            !scalar.properties.isWhitespace, scalar.properties.generalCategory != .control
        {
            self.init(plain, [KeyCode(scalar)])
        } else {
            return nil
        }
    }

    package static let examples = "space, enter, f1 to f24, a letter, right-alt, scroll-lock"

    package var title: String { name.prefix(1).uppercased() + name.dropFirst() }

    /// Whether every terminal reports its press.
    package var hasBytes: Bool { codes[0].hasBytes }

    /// The key alone, or with Shift.
    ///
    /// At its release other keys do not matter; and a modifier is down itself.
    func isMeant(by event: KeyEvent) -> Bool {
        let isThere = codes.contains(where: event.isOf)
        return isThere && (event.kind == .release || !hasBytes || event.modifiers.command.isEmpty)
    }

    private static let byName: [String: [KeyCode]] = [
        "space": [.space], "enter": [.enter, .keypadEnter], "return": [.enter, .keypadEnter],
        "tab": [.tab],
        "backspace": [.backspace], "insert": [.insert], "delete": [.delete], "home": [.home],
        "end": [.end], "page-up": [.pageUp], "page-down": [.pageDown], "up": [.up],
        "down": [.down], "left": [.left], "right": [.right], "menu": [.menu],
        "caps-lock": [.capsLock], "scroll-lock": [.scrollLock], "num-lock": [.numLock],
        "print-screen": [.printScreen], "pause": [.pause],
        "left-shift": [.leftShift], "left-ctrl": [.leftControl], "left-control": [.leftControl],
        "left-alt": [.leftAlt], "left-super": [.leftSuper], "left-hyper": [.leftHyper],
        "left-meta": [.leftMeta],
        "right-shift": [.rightShift], "right-ctrl": [.rightControl],
        "right-control": [.rightControl], "right-super": [.rightSuper],
        "right-hyper": [.rightHyper], "right-meta": [.rightMeta],
        // Which of both it is depends on the layout, not on the keyboard.
        "right-alt": [.rightAlt, .levelThreeShift], "alt-gr": [.rightAlt, .levelThreeShift],
    ]
}
