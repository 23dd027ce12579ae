// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KeyboardDevices

/// What a key means, with every order of movements up to a length.
@Suite struct HeldKeyTests {
    private static let key = KeyNumber(97)
    private static let letter = KeyNumber(46)
    private static let start = ContinuousClock.now

    private enum Step: CaseIterable {
        case press0, release0, repetition0, lost0, press1, release1, lost1
        case letter, escape, button, later
    }

    /// Plays steps, 100 ms after one another.
    private static func meanings(_ steps: [Step]) -> [HeldKey.Meaning?] {
        var held = HeldKey(key)
        var now = start
        return steps.map { step in
            now += .milliseconds(100)
            switch step {
            case .press0: return held.handle(key, .press, on: 0, at: now)
            case .release0: return held.handle(key, .release, on: 0, at: now)
            case .repetition0: return held.handle(key, .repetition, on: 0, at: now)
            case .lost0: return held.lose(0)
            case .press1: return held.handle(key, .press, on: 1, at: now)
            case .release1: return held.handle(key, .release, on: 1, at: now)
            case .lost1: return held.lose(1)
            case .letter: return held.handle(letter, .press, on: 0, at: now)
            case .escape: return held.handle(.escape, .press, on: 0, at: now)
            case .button: return held.handle(KeyNumber(0x110), .press, on: 0, at: now)
            case .later:
                now += .seconds(1)
                return nil
            }
        }
    }

    /// All lines of so many steps.
    private static func lines(of count: Int) -> [[Step]] {
        (0..<count).reduce([[]]) { lines, _ in
            lines.flatMap { line in Step.allCases.map { line + [$0] } }
        }
    }

    @Test func inEveryOrderDownAndItsEndTakeTurns() {
        let lines = Self.lines(of: 5)
        #expect(lines.count == 161_051)
        let broken = lines.filter { line in
            let said = Self.meanings(line).compactMap(\.self)
            return said.enumerated().contains { index, meaning in
                (meaning == .down) != index.isMultiple(of: 2)
            }
        }
        #expect(broken.isEmpty)
    }

    @Test func whatIsDownOnNoKeyboardIsNotHeld() {
        let broken = Self.lines(of: 4).filter { line in
            let said = Self.meanings(line + [.release0, .lost1]).compactMap(\.self)
            return said.last == .down
        }
        #expect(broken.isEmpty)
    }

    @Test func repeatsAndReleasesOfWhatWasDownBeforeMeanNothing() {
        #expect(Self.meanings([.repetition0, .repetition0, .release0]) == [nil, nil, nil])
        #expect(Self.meanings([.press0, .repetition0, .release0]) == [.down, nil, .up])
        // A press that is said twice, after events that were dropped.
        #expect(Self.meanings([.press0, .press0, .release0]) == [.down, nil, .up])
    }

    @Test func twoKeyboardsHoldItTogether() {
        #expect(
            Self.meanings([.press0, .press1, .release0, .release1]) == [.down, nil, nil, .up])
        #expect(Self.meanings([.press0, .press1, .lost0, .lost1]) == [.down, nil, nil, .lost])
        #expect(Self.meanings([.press0, .lost1, .lost0, .lost0]) == [.down, nil, .lost, nil])
    }

    @Test func anotherKeySoonMakesAShortcut() {
        #expect(
            Self.meanings([.press0, .letter, .letter, .release0, .press0])
                == [.down, .dismissed, nil, nil, .down])
        #expect(Self.meanings([.press0, .later, .letter, .release0]) == [.down, nil, nil, .up])
        #expect(
            Self.meanings([.press0, .later, .escape, .release0]) == [.down, nil, .dismissed, nil])
        #expect(Self.meanings([.press0, .button, .release0]) == [.down, nil, .up])
        // What a program types comes from a keyboard of its own.
        #expect(Self.meanings([.press1, .letter, .release1]) == [.down, nil, .up])
        #expect(Self.meanings([.letter, .escape]) == [nil, nil])
    }

    @Test(arguments: [
        ("right-ctrl", 97), ("Right-Control", 97), ("scroll-lock", 70), ("f13", 183),
        ("KEY_MICMUTE", 248), ("mic-mute", 248), ("space", 57), ("a", 30), ("menu", 127),
        ("alt-gr", 100), ("BTN_EXTRA", 0x114), ("return", 28),
    ])
    func namesAreThoseOfTheKernel(_ name: String, _ number: UInt16) {
        #expect(KeyNumber(named: name) == KeyNumber(number))
    }

    @Test(arguments: ["", "hyper-space", "ctrl+a", "é", "KEY_", "97"])
    func whatIsNoNameIsNoKey(_ name: String) { #expect(KeyNumber(named: name) == nil) }

    @Test func aTitleIsWhatAPersonKnows() {
        #expect(KeyNumber.rightControl.name == "right Ctrl")
        #expect(KeyNumber(183).name == "F13")
        #expect(KeyNumber(0x114).name == "BTN_EXTRA")
        #expect(KeyNumber(0x2fe).name == "key 766")
    }
}
