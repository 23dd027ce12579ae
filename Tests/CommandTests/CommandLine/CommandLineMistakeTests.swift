// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterCommands

/// What a person hears who typed something that is not there.
@Suite struct CommandLineMistakeTests {
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
}
