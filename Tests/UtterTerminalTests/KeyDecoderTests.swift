// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterTerminal

/// What terminals send for keys, wherever it is split.
@Suite struct KeyDecoderTests {
    /// Bytes of a terminal, and what they tell.
    struct Case: Sendable, CustomTestStringConvertible {
        var bytes: String
        var inputs: [TerminalInput]

        init(_ bytes: String, _ inputs: TerminalInput...) {
            (self.bytes, self.inputs) = (bytes, inputs)
        }

        init(_ bytes: String, keys first: KeyEvent, _ rest: KeyEvent...) {
            (self.bytes, inputs) = (bytes, ([first] + rest).map { .key($0) })
        }

        var testDescription: String { String(reflecting: bytes) }
    }

    static let cases = [
        // kitty, with flags 1 + 2 + 8: Space pressed, held and released.
        Case(
            "\u{1B}[32u\u{1B}[32;1:2u\u{1B}[32;1:3u", keys: KeyEvent(.space),
            KeyEvent(.space, .repetition), KeyEvent(.space, .release)),
        Case("\u{1B}[32;1u\u{1B}[32;1:1u", keys: KeyEvent(.space), KeyEvent(.space)),
        // The same with Num Lock, as foot sends it.
        Case("\u{1B}[32;129:3u", keys: KeyEvent(.space, .release, KeyModifiers(rawValue: 128))),
        Case("\u{1B}[99;5u", keys: KeyEvent(KeyCode("c"), .press, .control)),
        Case(
            "\u{1B}[27u\u{1B}[13u\u{1B}[9u", keys: KeyEvent(.escape), KeyEvent(.enter),
            KeyEvent(.tab)),
        // A right Alt, and a right Control, alone.
        Case(
            "\u{1B}[57449;3u\u{1B}[57449;1:3u", keys: KeyEvent(.rightAlt, .press, .alt),
            KeyEvent(.rightAlt, .release)),
        Case("\u{1B}[57448;5:1u", keys: KeyEvent(.rightControl, .press, .control)),
        // A Cyrillic С where C is, with and without Shift; and a text beside the key.
        Case(
            "\u{1B}[1089::99;5u",
            keys: KeyEvent(KeyCode(1_089), .press, .control, standardKey: KeyCode("c"))),
        Case("\u{1B}[97:65;2;65u", keys: KeyEvent(KeyCode("a"), .press, .shift)),
        Case("\u{1B}[97;;229u", keys: KeyEvent(KeyCode("a"))),
        Case("\u{1B}[0;;229u\u{1B}[32;1:4u\u{1B}[1114112u\u{1B}[55296u"),
        // Function keys with and without a kind.
        Case(
            "\u{1B}[1;1:1P\u{1B}[1;1:3P\u{1B}[P\u{1B}OP\u{1B}[11~\u{1B}[[A",
            keys: KeyEvent(.function(1)), KeyEvent(.function(1), .release),
            KeyEvent(.function(1)), KeyEvent(.function(1)), KeyEvent(.function(1)),
            KeyEvent(.function(1))),
        Case(
            "\u{1B}[20~\u{1B}[20;1:3~\u{1B}[57387u\u{1B}[34~", keys: KeyEvent(.function(9)),
            KeyEvent(.function(9), .release), KeyEvent(.function(24)), KeyEvent(.function(20))),
        Case(
            "\u{1B}[A\u{1B}OD\u{1B}[1;5C\u{1B}[Z", keys: KeyEvent(.up), KeyEvent(.left),
            KeyEvent(.right, .press, .control), KeyEvent(.tab, .press, .shift)),
        // Bytes.
        Case(
            " \r\n\t\u{7F}\u{8}", keys: KeyEvent(.space), KeyEvent(.enter), KeyEvent(.enter),
            KeyEvent(.tab), KeyEvent(.backspace), KeyEvent(.backspace)),
        Case(
            "\u{3}\u{4}\u{1A}\u{1C}\0", keys: KeyEvent(KeyCode("c"), .press, .control),
            KeyEvent(KeyCode("d"), .press, .control), KeyEvent(KeyCode("z"), .press, .control),
            KeyEvent(KeyCode("\\"), .press, .control), KeyEvent(.space, .press, .control)),
        Case("qQ", keys: KeyEvent(KeyCode("q")), KeyEvent(KeyCode("q"), .press, .shift)),
        Case(
            "äß語🎤", keys: KeyEvent(KeyCode("ä")), KeyEvent(KeyCode("ß")),
            KeyEvent(KeyCode("語")), KeyEvent(KeyCode("🎤"))),
        Case(
            "\u{1B} \u{1B}ä", keys: KeyEvent(.space, .press, .alt),
            KeyEvent(KeyCode("ä"), .press, .alt)),
        Case("\u{1B}\u{1B}[A", keys: KeyEvent(.escape), KeyEvent(.up)),
        // Answers: kitty's, xterm's, and the position of the cursor, which is no F3.
        Case("\u{1B}[?11u\u{1B}[?62;c", .keyboardFlags(11), .deviceAttributes),
        Case("\u{1B}[?0u\u{1B}[?64;1;2;6;9;15;18;21;22c", .keyboardFlags(0), .deviceAttributes),
        Case("\u{1B}[24;80R"),
        Case("\u{1B}[I\u{1B}[O", .focus(true), .focus(false)),
        // A paste, with what looks like keys and like its end.
        Case(
            "\u{1B}[200~ \r\u{3}\u{1B}[201\u{1B}[32u\u{1B}[201~q", .pasted,
            .key(KeyEvent(KeyCode("q")))),
        Case("\u{1B}[200~\u{1B}\u{1B}[201~ ", .pasted, .key(KeyEvent(.space))),
        Case("\u{1B}[201~"),
        // What is not for us: a string, a colour that was asked for, a mouse, unknown codes.
        Case("\u{1B}]11;rgb:0000/0000/0000\u{1B}\\\u{1B}P1+r\u{7} ", keys: KeyEvent(.space)),
        Case("\u{1B}[<0;10;10M\u{1B}[>1;4000;41c\u{1B}[?2026;2$y\u{1B}[4;1h"),
        // Broken sequences end with what cannot be in them, which counts.
        Case("\u{1B}[3\u{3}", keys: KeyEvent(KeyCode("c"), .press, .control)),
        Case("\u{1B}[3\u{1B}[32u", keys: KeyEvent(.space)),
        // An overlong code is no key.
        Case("\u{1B}[\(String(repeating: "1;", count: 40))~ ", keys: KeyEvent(.space)),
    ]

    static func decode(_ bytes: some Sequence<UInt8>) -> [TerminalInput] {
        var decoder = KeyDecoder()
        return bytes.compactMap { decoder.decode($0) }
    }

    /// Bytes come at once or in any pieces, with pauses that are shorter than a key.
    @Test(arguments: cases) func whatIsSentIsUnderstoodWhereverItIsSplit(_ this: Case) {
        let bytes = Array(this.bytes.utf8)
        for split in 0...bytes.count {
            var decoder = KeyDecoder()
            var inputs = bytes[..<split].compactMap { decoder.decode($0) }
            let pause = (decoder.patience ?? .seconds(9)) - .milliseconds(1)
            #expect(decoder.idle(for: pause) == nil)
            inputs += bytes[split...].compactMap { decoder.decode($0) }
            #expect(inputs == this.inputs, "split at \(split)")
        }
    }

    @Test func anEscapeIsTheKeyWhenNothingFollows() {
        var decoder = KeyDecoder()
        #expect(decoder.decode(0x1B) == nil)
        #expect(decoder.idle(for: KeyDecoder.escapeTime) == .key(KeyEvent(.escape)))
        #expect(decoder.patience == nil)
        #expect(decoder.decode(0x20) == .key(KeyEvent(.space)))
    }

    /// What never ends must not swallow the keys for ever.
    @Test(arguments: ["\u{1B}[", "\u{1B}[32;1", "\u{1B}O", "\u{1B}]0;x", "\u{C3}"])
    func whatHasBegunAndDoesNotEndIsGivenUp(_ begin: String) {
        var decoder = KeyDecoder()
        for byte in begin.utf8 { _ = decoder.decode(byte) }
        if begin == "\u{C3}" { _ = decoder.decode(0xC3) }
        #expect(decoder.patience == KeyDecoder.sequenceTime || begin == "\u{C3}")
        #expect(decoder.idle(for: KeyDecoder.sequenceTime) == nil)
        #expect(decoder.decode(0x20) == .key(KeyEvent(.space)))
    }

    @Test(arguments: ["\u{1B}[", "\u{1B}]"]) func anEndlessSequenceIsBounded(_ begin: String) {
        var decoder = KeyDecoder()
        for byte in begin.utf8 { _ = decoder.decode(byte) }
        var inputs: [TerminalInput] = []
        for _ in 0..<10_000 { inputs += decoder.decode(UInt8(ascii: "1")).map { [$0] } ?? [] }
        // Behind the bound they are keys again.
        #expect(inputs.count > 5_000)
        #expect(inputs.allSatisfy { $0 == .key(KeyEvent(KeyCode("1"))) })
        #expect(MemoryLayout<KeyDecoder>.size < 128)
    }

    @Test func aPasteOfAnyLengthIsOnePaste() {
        let bytes =
            Array("\u{1B}[200~".utf8) + Array(repeating: 0x20, count: 1_000_000)
            + Array("\u{1B}[201~ ".utf8)
        #expect(Self.decode(bytes) == [.pasted, .key(KeyEvent(.space))])
    }

    @Test func garbageIsSurvivedAndEndsWithTheNextKey() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<2_000 {
            var decoder = KeyDecoder()
            for _ in 0..<200 { _ = decoder.decode(UInt8.random(in: 0...255, using: &random)) }
            _ = decoder.idle(for: .seconds(2))
            #expect(decoder.decode(0x20) == .key(KeyEvent(.space)))
        }
    }
}

/// Which keys ask for a signal, while the terminal makes none of its own.
@Suite struct SignalKeysTests {
    private static func signals(
        _ bytes: String, _ keys: SignalKeys = SignalKeys()
    ) -> [SignalKeys.Signal] {
        KeyDecoderTests.decode(bytes.utf8).compactMap { input in
            guard case .key(let event) = input else { return nil }
            return keys.signal(of: event)
        }
    }

    @Test(
        arguments: [
            ("\u{3}\u{1C}\u{1A}", SignalKeys(), [.interrupt, .quit, .suspend]),
            (
                "\u{1B}[99;5u\u{1B}[92;5u\u{1B}[122;5u", SignalKeys(),
                [.interrupt, .quit, .suspend]
            ),
            // Held, let go, and with another key.
            ("\u{1B}[99;5:2u\u{1B}[99;5:3u\u{1B}[99;7uc\u{1B}[99u", SignalKeys(), []),
            // `stty intr ^X susp undef`, and `stty intr DEL` of old.
            (
                "\u{18}\u{3}\u{1A}\u{0}\u{1B}[120;5u", SignalKeys(interrupt: 0x18, suspend: 0),
                [.interrupt, .interrupt]
            ),
            ("\u{7F}\u{3}", SignalKeys(interrupt: 0x7F), [.interrupt]),
            // A Cyrillic layout has another letter there; Dvorak has j, AZERTY w.
            ("\u{1B}[1089::99;5u", SignalKeys(), [.interrupt]),
            ("\u{1B}[106::99;5u\u{1B}[119::122;5u", SignalKeys(), []),
            // A key that is broken off loses no signal.
            (
                "\u{1B}O\u{3}\u{1B}[[\u{3}\u{1B}[3\u{3}", SignalKeys(),
                [.interrupt, .interrupt, .interrupt]
            ),
        ] as [(String, SignalKeys, [SignalKeys.Signal])])
    func thePersonsKeysAskForSignals(
        _ bytes: String, _ keys: SignalKeys, _ signals: [SignalKeys.Signal]
    ) {
        #expect(Self.signals(bytes, keys) == signals)
    }

    @Test func noByteOfAPasteIsAKey() {
        let paste = "\u{1B}[200~\u{3}\u{1C}\u{1A}\u{1B}[99;5u\u{1B}\u{3}\u{1B}[200~\u{3}"
        #expect(Self.signals(paste + "\u{1B}[201~") == [])
        #expect(Self.signals(paste) == [])
        #expect(Self.signals(paste + "\u{1B}[201~\u{3}") == [.interrupt])
        for split in 0..<paste.utf8.count {
            var decoder = KeyDecoder()
            let bytes = Array((paste + "\u{1B}[201~").utf8)
            var keys = bytes[..<split].compactMap { decoder.decode($0) }
            _ = decoder.idle(for: .milliseconds(900))
            keys += bytes[split...].compactMap { decoder.decode($0) }
            // Within its first three bytes it is the Escape key, after so long.
            if split == 0 || split > 1 { #expect(keys == [.pasted], "\(split)") }
            #expect(!decoder.isInPaste)
        }
    }

    @Test func aPasteWithoutEndIsOverWhenNothingMoreComes() {
        var decoder = KeyDecoder()
        for byte in "\u{1B}[200~abc\u{3}".utf8 { _ = decoder.decode(byte) }
        #expect(decoder.isInPaste)
        #expect(decoder.idle(for: KeyDecoder.pasteTime) == nil)
        #expect(decoder.decode(0x03) == .key(KeyEvent(KeyCode("c"), .press, .control)))
    }
}
