// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform
internal import SpeechService
internal import TakeStore

/// A command that reads the text of a take and prints the one that counts.
///
/// It runs once the disk has the answer, for one take after the other, in the order of the answers. The
/// text before it counts where the command fails, says nothing, takes too long, or drops or adds more
/// words than a filter should: a notice says so.
public struct TextFilter: Sendable {
    /// For `sh -c`: the text is on standard input, and the new one on standard output.
    public var command: String
    /// The variables of the command, as "NAME=value"; called with the path of a file that has the take as
    /// a JSON object, which only this user may read, or nil.
    public var environment: @Sendable (_ takePath: String?) -> [String]
    /// Where that file may be while the command runs, such as a folder in memory; nil for nowhere.
    public var folder: String?
    /// How long the command may take.
    public var time = Duration.seconds(5)

    /// Creates a filter; without a folder the command has nothing but the text.
    public init(
        _ command: String, folder: String? = nil,
        environment: @escaping @Sendable (_ takePath: String?) -> [String]
    ) {
        (self.command, self.folder, self.environment) = (command, folder, environment)
    }

    private struct Refusal: Error {
        let reason: String
    }

    private static let byteLimit = 1 << 20
    private static let interval = Duration.milliseconds(100)

    /// Blocks until the command has ended, or has had its time; its process group ends with it.
    ///
    /// - Returns: the new text; `refused` with the reason where the old one counts.
    func result(
        for transcript: Transcript, of take: TakeID, unless isOver: () -> Bool = { false }
    ) -> FilteredText {
        do throws(Refusal) {
            if isOver() { throw Refusal(reason: "was not run") }
            let output: Result<[UInt8], Refusal>
            do throws(SystemError) {
                output = try run(transcript, take, isOver)
            } catch {
                throw Refusal(reason: "cannot be run: \(error.reason)")
            }
            guard let text = String(validating: try output.get(), as: UTF8.self) else {
                throw Refusal(reason: "printed what is not UTF-8")
            }
            let clean = TerminalText.sanitized(text)
            let end = clean.lastIndex { !$0.isWhitespace }
            guard let end else { throw Refusal(reason: "printed nothing") }
            let lines = String(clean[...end].drop(while: \.isWhitespace))
            let change = WordChange(from: transcript.text, to: lines)
            guard change.isSmall else { throw Refusal(reason: "\(change)") }
            guard lines.utf8.count <= 4 * transcript.text.utf8.count + 100 else {
                throw Refusal(reason: "printed too much")
            }
            return .text(lines)
        } catch {
            return .refused("the filter \(error.reason); the text is the one before it")
        }
    }

    private func run(
        _ transcript: Transcript, _ take: TakeID, _ isOver: () -> Bool
    ) throws(SystemError) -> Result<[UInt8], Refusal> {
        let object = Object(of: transcript, take)
        // Without the file the command has the text.
        let file = folder.flatMap { try? TextFile(object.bytes, named: "take", in: $0) }
        let input = try makeMemoryFile(Array((transcript.text + "\n").utf8))
        let pipe = try makePipe()
        let reading = OwnedDescriptor(taking: pipe.reading)
        var process = try ChildProcess(
            "/bin/sh", ["sh", "-c", command], environment: environment(file?.path),
            input: .given(input), output: .given(OwnedDescriptor(taking: pipe.writing)))
        let deadline = ContinuousClock.now + time
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var isOpen = true
        while isOpen, output.count <= Self.byteLimit, !isOver(), ContinuousClock.now < deadline {
            let pause = min(deadline, .now + Self.interval)
            guard waitUntilReadable(reading.number, process.ending, by: pause) else { continue }
            // A program that it has left in the background may hold the pipe open.
            guard WorkerPause.until(.now).wait(for: reading.number) else { break }
            let count = try retryingInterrupts("read") {
                unsafe read(reading.number, &buffer, buffer.count)
            }
            isOpen = count > 0
            output += buffer[..<count]
        }
        let isInTime = output.count <= Self.byteLimit && !isOver()
        let hasEnded = waitUntilReadable(process.ending, by: isInTime ? deadline : .now)
        let status = process.kill()
        withExtendedLifetime(file) {}
        if output.count > Self.byteLimit { return .failure(Refusal(reason: "printed too much")) }
        guard hasEnded else {
            let end = isOver() ? "was not waited for" : "has taken more than \(time.secondsText)"
            return .failure(Refusal(reason: end))
        }
        guard status == 0 else { return .failure(Refusal(reason: ChildProcess.end(by: status))) }
        return .success(output)
    }
}

enum FilteredText: Sendable, Equatable {
    case text(String)
    case refused(String)
}

/// The take as the command may read it.
private struct Object: Encodable {
    let id, text, raw: String
    let language: String?
    let duration: Double?
    let words, segments: [RecognizedWord]

    init(of transcript: Transcript, _ take: TakeID) {
        (id, text, raw) = (take.text, transcript.text, transcript.raw ?? transcript.text)
        (language, duration) = (transcript.language, transcript.duration)
        (words, segments) = (transcript.words, transcript.segments)
    }

    // Numbers that are none are no times.
    var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }
}
