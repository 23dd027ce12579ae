// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Utter
@testable import UtterCommands

/// What follows a command, a name or a key that a person has typed.
@Suite struct TypedWordTests {
    @Test(arguments: [
        ["services", "test"], ["services"], ["services", "--help"], ["list", "x"],
        ["services", "show"],
    ])
    func theHelpOfACommandThatIsThereIsNoMistake(_ words: [String]) {
        let names = CommandNames(UtterCommand.self)
        #expect(CommandLineMistake.unknownCommand(in: ["help"] + words, of: names) == nil)
    }

    @Test func theWordsOfACommandLineAreToldApart() {
        let names = CommandNames(UtterCommand.self)
        func sorted(_ words: String...) -> [String] {
            let (command, words) = names.command(of: words)
            let (options, others) = names.sorted(words, of: command)
            return ["\(command):"] + options + ["|"] + others
        }
        // A value is no command, and nothing behind -- is an option.
        #expect(sorted("--device", "send", "-q") == ["record:", "--device", "-q", "|"])
        #expect(sorted("-q", "send") == ["record:", "-q", "|", "send"])
        #expect(sorted("send", "-q", "a", "--", "-b") == ["send:", "-q", "|", "a"])
        #expect(sorted("send", "--to=x", "-") == ["send:", "--to=x", "|", "-"])
        #expect(sorted() == ["record:", "|"])
        let known = ["-q", "--to=x", "-qv", "-d5", "--nearly"].map {
            names.isKnown($0, to: "record")
        }
        #expect(known == [true, true, true, false, false])
    }

    @Test func aDeviceMayBeNamedLikeACommand() async throws {
        let card = try VirtualMicrophone()
        let result = try await Bench(microphone: card).run("--device", "send")
        #expect(result.status == .exited(66))
        #expect(result.errorText.contains("no capture device named 'send'"))
    }

    @Test func enterEndsTheLevelWhoseLinesGoToAFile() async throws {
        let terminal = try PseudoTerminal()
        let run = try Bench(microphone: VirtualMicrophone()).startShell(
            "\"$0\" level 2>/dev/null", [], terminal: terminal)
        #expect(await comesTrue { !terminal.isEchoing })
        try terminal.type("\n")
        _ = try await run.result()
        #expect(terminal.isEchoing)
    }

    @Test func enterEndsTheLevelAndLeavesNothingOfItOnTheScreen() async throws {
        let folder = try TemporaryFolder()
        let samples = (0..<16_000).map { Int16($0 % 2 == 0 ? 4_096 : -4_096) }
        var card = VirtualCard()
        card.rates = [16_000]
        card.content = .loop(path: try folder.write(WAVBytes.pcm(samples), to: "content"))
        let terminal = try PseudoTerminal()
        let run = try Bench(microphone: VirtualMicrophone(card)).start(
            ["level"], input: .terminal, terminal: terminal)
        #expect(await run.wait(for: "▏ -18 dBFS", in: .screen))
        #expect(!terminal.isEchoing)
        try terminal.type("\n")
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.screenText)")
        var window = EmulatedScreen(columns: 80, rows: 24)
        window.show(result.screenText)
        #expect(window.lines == [])
        #expect(terminal.isEchoing)
        withExtendedLifetime(folder) {}
    }

    /// Built by hand: what a recorder leaves that was killed.
    @Test func withoutItsKeyATakeWhoseRecorderDiedIsNotSaidToBeRecorded() async throws {
        let bench = try Bench()
        let digits = String(repeating: "0123456789abcdef", count: 4)
        let key = try bench.folder.write(Array("utter-key-\(digits)\n".utf8), to: "key")
        let take = try await bench.keep(.goForward, "--encrypt-key", key)
        let path = "state/utter/takes/\(take.id)/take.json"
        let kept = String(decoding: try bench.folder.read(path), as: UTF8.self)
        let killed = kept.replacing(
            #""state" : "kept""#, with: #""holder" : 1, "state" : "recording""#)
        #expect(killed != kept)
        try bench.folder.write(Array(killed.utf8), to: path)
        let list = try await bench.here("list").outputText
        #expect(list.contains("  kept  "), "\(list)")
        let reason = "was recording when its program ended; encrypted, and no key was given"
        #expect(list.contains(reason) && !list.contains("by process"), "\(list)")
        let show = try await bench.here("show", "last").outputText
        #expect(show.contains("\nstate       kept\n"), "\(show)")
        // What the disk has waits for the key.
        #expect(try bench.folder.read(path) == Array(killed.utf8))
        let known = try await bench.here("list", "--encrypt-key", key).outputText
        #expect(known.contains("the program ended while it was recording"), "\(known)")
    }
}
