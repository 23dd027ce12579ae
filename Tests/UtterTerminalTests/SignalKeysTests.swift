// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UtterTerminal

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

    @Test func theUsualKeysAskAsBytesAndAsCodes() {
        #expect(Self.signals("\u{3}\u{1C}\u{1A}") == [.interrupt, .quit, .suspend])
        #expect(
            Self.signals("\u{1B}[99;5u\u{1B}[92;5u\u{1B}[122;5u")
                == [.interrupt, .quit, .suspend])
        // Held, let go, and with another key.
        #expect(Self.signals("\u{1B}[99;5:2u\u{1B}[99;5:3u\u{1B}[99;7uc\u{1B}[99u") == [])
    }

    /// `stty intr ^X susp undef`, and `stty intr DEL` of old.
    @Test func thePersonsOwnKeysCountAndNoOthers() {
        let own = SignalKeys(interrupt: 0x18, suspend: 0)
        #expect(
            Self.signals("\u{18}\u{3}\u{1A}\u{0}\u{1B}[120;5u", own) == [.interrupt, .interrupt])
        #expect(Self.signals("\u{7F}\u{3}", SignalKeys(interrupt: 0x7F)) == [.interrupt])
    }

    @Test func theLetterOnTheKeyCountsWhereItIsLatin() {
        // A Cyrillic layout has another letter there; Dvorak has j, AZERTY w.
        #expect(Self.signals("\u{1B}[1089::99;5u") == [.interrupt])
        #expect(Self.signals("\u{1B}[106::99;5u\u{1B}[119::122;5u") == [])
    }

    @Test func aKeyThatIsBrokenOffLosesNoSignal() {
        #expect(
            Self.signals("\u{1B}O\u{3}\u{1B}[[\u{3}\u{1B}[3\u{3}")
                == Array(
                    repeating: .interrupt, count: 3))
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
