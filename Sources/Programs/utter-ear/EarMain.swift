// SPDX-License-Identifier: Apache-2.0

import CPocketSphinx
import FoundationEssentials
import Glibc

/// PocketSphinx as a recogniser, which reads and writes as docs/recogniser.md says.
///
/// Its arguments are options of PocketSphinx, such as `-jsgf FILE` for a grammar in JSGF (Java Speech
/// Grammar Format 1.0). A grammar of a few sentences is loaded in a tenth of a second and right almost
/// always, but it hears nothing else; the language model hears any US English and gets a third of the
/// words wrong.
///
/// Each recording has a decoder of its own: a decoder remembers the sound of what it has heard, so the
/// next text would depend on the last speaker. The next one is loaded as soon as there is an answer.
@main
struct EarMain {
    /// The descriptor for the lines of the protocol.
    let output: Int32

    static func main() {
        // PocketSphinx prints parts of a grammar to standard output, not to be taken for lines.
        let ear = EarMain(output: dup(STDOUT_FILENO))
        dup2(STDERR_FILENO, STDOUT_FILENO)
        do {
            try ear.run()
        } catch {
            let fault = error as? EarFault
            ear.say(EarLine(error: fault?.reason ?? "\(error)", hint: fault?.hint))
            exit(EXIT_FAILURE)
        }
    }

    /// Works until the end of the input; blocks.
    private func run() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        while true {
            let recogniser = try SpeechRecogniser(PocketSphinxDecoder(options: arguments))
            say(EarLine(ready: EarLine.Ready()))
            guard let command = try nextCommand() else { return }
            guard command.begin != nil else { throw EarFault(reason: "'begin' is expected") }
            try recognise(with: recogniser)
            // The C library would keep what the decoder took for later.
            utter_give_memory_back()
        }
    }

    /// Takes one recording in until its end; after an error it still reads that far.
    private func recognise(with recogniser: consuming SpeechRecogniser) throws {
        var hasFailed = false
        func attempt(_ body: () throws -> Void) {
            guard !hasFailed else { return }
            do {
                try body()
            } catch {
                hasFailed = true
                say(EarLine(error: "PocketSphinx refuses the sound"))
            }
        }
        attempt { try recogniser.beginUtterance() }
        while let command = try nextCommand() {
            if command.cancel == true { return }
            if command.end == true {
                return attempt { say(try recogniser.finish(say: say)) }
            }
            guard let count = command.audio, (0...Self.longestPiece).contains(count) else {
                throw EarFault(reason: "'audio', 'end' or 'cancel' is expected")
            }
            let samples = unsafe [Int16](unsafeUninitializedCapacity: count / 2) {
                guard let start = $0.baseAddress else { return }
                unsafe $1 = utter_read_samples(start, count / 2)
            }
            attempt { try recogniser.process(samples.span, say: say) }
        }
    }

    /// The next line of the input; nil at its end.
    private func nextCommand() throws -> EarCommand? {
        try readLine().map { try JSONDecoder().decode(EarCommand.self, from: Data($0.utf8)) }
    }

    private func say(_ line: EarLine) {
        // Only numbers that are not finite have no form in JSON, and there are none.
        let bytes = Array((try? JSONEncoder().encode(line)) ?? Data()) + [0x0A]
        // An endpoint that is gone has ended the input, too.
        _ = unsafe write(output, bytes, bytes.count)
    }

    /// 16 MiB, in bytes.
    private static let longestPiece = 16 << 20
}

/// Why nothing can be recognised.
struct EarFault: Error {
    let reason: String
    var hint: String?
}

/// A line that the endpoint writes; the members that PocketSphinx has a use for.
private struct EarCommand: Decodable {
    struct Beginning: Decodable {}

    var begin: Beginning?
    /// So many bytes of samples follow the line: 16 bits, little-endian, as the machine has them.
    var audio: Int?
    var end, cancel: Bool?
}

/// A line that the endpoint reads.
struct EarLine: Encodable {
    struct Ready: Encodable {
        var name = "PocketSphinx"
        var languages = ["en"]
    }

    /// Its place in the audio is in seconds.
    struct Word: Encodable {
        var word: String
        var start, end, probability: Double
    }

    var ready: Ready?
    var partial, final: String?
    var time: Double?
    var words: [Word]?
    var end: Bool?
    var error, hint: String?
}
