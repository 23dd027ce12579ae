// SPDX-License-Identifier: Apache-2.0

internal import CPocketSphinx
internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform

/// PocketSphinx as a recogniser: it reads recordings on standard input, one after another, and writes
/// what it hears to standard output.
///
/// Each recording has a decoder of its own: a decoder remembers the sound of what it has heard, so the
/// next text would depend on the last speaker. The next one is loaded as soon as there is an answer.
package struct PocketSphinxProgram {
    private struct Misuse: Error {
        let reason: String
    }

    private var unread: [UInt8] = []

    package init() {}

    /// Works until the end of the input; blocks, and returns the status to exit with.
    package mutating func run(_ model: RecognitionModel) -> Int32 {
        do {
            let prepared = try PreparedModel(model)
            while true {
                let recogniser = try SpeechRecogniser(prepared)
                var line = RecogniserLine()
                line.ready = .init(name: "PocketSphinx", languages: ["en"])
                say(line)
                guard let command = try nextCommand() else { return 0 }
                guard command.begin != nil else { throw Misuse(reason: "'begin' is expected") }
                try recognise(with: recogniser)
                // The C library would keep what the decoder took for later.
                utter_give_memory_back()
            }
        } catch {
            var line = RecogniserLine()
            switch error {
            case let error as ModelError: (line.error, line.hint) = (error.description, error.hint)
            case let misuse as Misuse: line.error = misuse.reason
            default: line.error = "\(error)"
            }
            say(line)
            return 1
        }
    }

    /// Takes one recording in until its end; after an error it still reads that far.
    private mutating func recognise(with recogniser: consuming SpeechRecogniser) throws {
        var hasFailed = false
        func attempt(_ body: () throws -> Void) {
            guard !hasFailed else { return }
            do {
                try body()
            } catch {
                hasFailed = true
                var line = RecogniserLine()
                line.error = "PocketSphinx refuses the sound"
                say(line)
            }
        }
        attempt { try recogniser.beginUtterance() }
        while let command = try nextCommand() {
            if command.cancel == true { return }
            if command.end == true {
                return attempt { say(try recogniser.finish(say: say)) }
            }
            guard let count = command.audio, (0...Self.longestPiece).contains(count) else {
                throw Misuse(reason: "'audio', 'end' or 'cancel' is expected")
            }
            while unread.count < count, try readMore() {}
            let samples = stride(from: 0, to: min(count, unread.count) - 1, by: 2).map {
                Int16(bitPattern: UInt16(unread[$0]) | UInt16(unread[$0 + 1]) << 8)
            }
            unread.removeFirst(min(count, unread.count))
            attempt { try recogniser.process(samples.span, say: say) }
        }
    }

    /// The next command; nil at the end of the input.
    private mutating func nextCommand() throws -> RecogniserCommand? {
        while true {
            if let end = unread.firstIndex(of: 0x0A) {
                defer { unread.removeFirst(end + 1) }
                return try JSONDecoder().decode(RecogniserCommand.self, from: Data(unread[..<end]))
            }
            guard unread.count < Self.longestLine else {
                throw Misuse(reason: "a line is too long")
            }
            guard try readMore() else { return nil }
        }
    }

    /// False at the end of the input.
    private mutating func readMore() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = try retryingInterrupts("read") {
            unsafe read(STDIN_FILENO, &buffer, buffer.count)
        }
        unread += buffer[..<count]
        return count > 0
    }

    private func say(_ line: RecogniserLine) {
        var rest = line.line[...]
        while !rest.isEmpty {
            let bytes = rest
            // An endpoint that is gone has ended the input, too.
            let count = try? retryingInterrupts("write") {
                unsafe bytes.withUnsafeBytes {
                    unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count)
                }
            }
            guard let count else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static let longestLine = 1 << 20
    private static let longestPiece = 16 << 20
}
