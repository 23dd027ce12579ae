// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import SpeechService
@testable import TakeStore
@testable import TextRules
@testable import Utter

extension Transcript {
    fileprivate init(_ text: String, language: String? = nil) {
        self.init()
        var hypothesis = Hypothesis(text: text, isFinal: true)
        hypothesis.language = language
        apply(hypothesis)
    }
}

struct TextFilterTests {
    private static let said = "we go to the market and buy ten apples for you"

    private func filter(
        _ command: String, _ said: String = Self.said, change: (inout TextFilter) -> Void = { _ in }
    ) throws -> FilteredText {
        var filter = TextFilter(command) { _ in ["PATH=/usr/bin:/bin"] }
        change(&filter)
        return filter.result(
            for: Transcript(said), of: try #require(TakeID("20261121-060010-abcdefghjk10")))
    }

    @Test(arguments: [
        ("cat", said), ("sed 's/ten/10/'", "we go to the market and buy 10 apples for you"),
        ("printf '\\n\\n'; cat; echo; echo", said),
        ("sed 's/ten apples/tenapples/'", "we go to the market and buy tenapples for you"),
        ("printf '\\033[31m'; cat", said),
        // It reads nothing, and a child of it holds the pipe open.
        ("sleep 600 & echo '\(said)'", said),
    ])
    func theTextThatIsPrintedCounts(_ command: String, _ text: String) throws {
        #expect(try filter(command) == .text(text))
    }

    @Test(arguments: [
        ("true", "printed nothing"), ("cat; exit 3", "ended with status 3"),
        ("kill -9 $$", "was ended by signal 9"), ("no-such-program", "ended with status 127"),
        ("printf '\\377'", "printed what is not UTF-8"),
        ("yes apples", "printed too much"), ("cut -d' ' -f1-4", "dropped 7 of 11 words"),
        ("echo 'Sure! Here is the text that you have asked for:'; cat", "added 10 words to 11"),
        ("tr a-z A-Z | rev", "dropped 11 of 11 words"),
    ])
    func aFilterThatDoesNotFilterIsRefused(_ command: String, _ reason: String) throws {
        let told = "the filter \(reason); the text is the one before it"
        #expect(try filter(command) == .refused(told))
    }

    @Test func aFilterThatHangsIsEndedWithAllThatItHasStarted() async throws {
        let folder = try TemporaryFolder()
        let result = try filter("sleep 600 & echo $! > \(folder.path)/child; wait") {
            $0.time = .milliseconds(200)
        }
        #expect(
            result
                == .refused("the filter has taken more than 0.2 s; the text is the one before it"))
        let child = String(decoding: try readFile(folder.path("child")), as: UTF8.self)
        let number = try #require(Int32(child.dropLast()))
        // A zombie is another process's to bury.
        let isGone: @Sendable () -> Bool = {
            guard kill(number, 0) == 0 else { return true }
            // A process that is gone has no such file.
            let status = try? readFile("/proc/\(number)/stat")
            return status.map { String(decoding: $0, as: UTF8.self).contains(") Z") } ?? true
        }
        #expect(await comesTrue(isGone))
    }

    @Test func withoutSpacesCharactersAreCounted() throws {
        let said = "私は市場に行って林檎を買います"
        #expect(try filter("sed s/林檎/りんご/", said) == .text("私は市場に行ってりんごを買います"))
        #expect(try filter("sed s/市場.*//", said) != .text("私は"))
    }

    @Test func theTakeIsAFileOfThisUserAloneForAsLongAsTheFilterRuns() throws {
        let folder = try TemporaryFolder()
        let checked = try filter(
            "test $(stat -c %a $F) = 600 && grep -q '\"text\":\"600 one\"' $F && cat", "600 one"
        ) {
            $0.folder = folder.path
            $0.environment = { ["PATH=/usr/bin:/bin", "F=\($0 ?? "")"] }
        }
        #expect(checked == .text("600 one"))
        #expect(try folder.names(in: ".").isEmpty)
    }

    @Test func hunspellsFirstProposalIsWritten() throws {
        let folder = try TemporaryFolder()
        let answer = "@(#) Ispell\n*\n& beleive 2 3: believe, relieve\n& teh 2 60: the, ten\n*\n"
        try folder.writeProgram(
            "#!/bin/sh\ncat >&2\nprintf '%s' '\(answer)'\n", to: "hunspell")
        let command = SourceTree.path("samples/filters/spelling")
        let text = try filter(
            command, "we beleive that you go to the market and buy ten apples\nfor (teh) boy."
        ) {
            $0.environment = { _ in ["PATH=\(folder.path):/usr/bin:/bin"] }
            $0.time = .patience
        }
        #expect(
            text
                == .text("we believe that you go to the market and buy ten apples for (the) boy."))
    }

    @Test(arguments: [
        (200, #"{"response":"We go to the market and buy ten apples for you."}"#, true),
        (200, #"{"error":"no such model"}"#, false), (500, "busy", false),
    ])
    func aModelOfThisMachineCorrectsAndAnswersNothing(
        _ status: Int, _ answer: String, isTaken: Bool
    ) throws {
        let server = try RecordingServer(otherwise: .answer(status: status, text: answer))
        let model = SourceTree.path("samples/filters/model")
        let result = try filter("\(model) small http://127.0.0.1:\(server.port)") {
            $0.time = .patience
        }
        let isText = result == .text("We go to the market and buy ten apples for you.")
        let isRefused = if case .refused = result { true } else { false }
        #expect(isTaken ? isText : isRefused, "\(result)")
        let request = try #require(server.requests.first)
        #expect(request.requestLine.hasPrefix("POST /api/generate "))
        let body = String(decoding: request.body, as: UTF8.self)
        #expect(body.contains(#""model": "small""#) && body.contains(Self.said))
    }

    @Test func filtersRunOneAfterTheOtherInTheirOrder() async {
        let queue = FilterQueue()
        let begun = Atomic(0)
        let ended = Atomic(0)
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                let result = Settlement<Bool>()
                queue.add { isOver in
                    let isFirst = begun.wrappingAdd(1, ordering: .relaxed).oldValue == number
                    let isAlone = ended.wrappingAdd(1, ordering: .relaxed).oldValue == number
                    result.settle(isFirst && isAlone && !isOver())
                }
                group.addTask { await result.value }
            }
            for await isRight in group { #expect(isRight) }
        }
        queue.shutDown()
        let late = Settlement<Bool>()
        queue.add { late.settle($0()) }
        #expect(await late.value)
    }
}

/// Rules and filters of takes, from the answer to the disk.
final class RuledTakeTests: Sendable {
    private static let answer =
        #"{"text": "Um, run cube control", "language": "en", "words": ["#
        + #"{"word": "Um,", "start": 0, "end": 0.5}, {"word": "run", "start": 0.5, "end": 0.8}, "#
        + #"{"word": "cube", "start": 0.9, "end": 1.2}, {"word": "control", "start": 1.3, "end": 2}]}"#

    /// A take to a service that answers so, with rules and a filter.
    private func take(
        _ bench: Bench, answer: String = RuledTakeTests.answer, filteredBy command: String? = nil
    ) throws -> Take {
        let server = try RecordingServer(otherwise: .json(answer))
        var plan = try Bench.plan(
            by: """
                url = "\(server.url())"
                [answer]
                framing = "json"
                text = ["text"]
                language = "language"
                words = { path = "words", text = "word", start = "start", end = "end" }
                """)
        plan.rules = rules()
        plan.filter = command.map { TextFilter($0) { _ in ["PATH=/usr/bin:/bin"] } }
        let take = bench.pipeline.start(
            TakePlan(
                source: FileReplay(path: Clip.digits.path, pace: .unpaced), delivery: plan))
        servers.withLock { $0.append(server) }
        return take
    }

    private let servers = Mutex<[RecordingServer]>([])

    private func rules() -> TextRules {
        var rules = TextRules()
        rules.dropsFillers = true
        rules.words = WordList([.init("cube control", "kubectl")])
        return rules
    }

    @Test func aTakeHasItsTextAndTheServices() async throws {
        let bench = try Bench()
        let take = try take(bench, filteredBy: "sed s/kubectl/kubectl./")
        let transcript = try await take.end().result.get()
        #expect(transcript.text == "Run kubectl.")
        #expect(transcript.raw == "Um, run cube control")
        #expect(transcript.words.map(\.text) == ["Run", "kubectl"])
        #expect(transcript.words.map(\.start) == [0.5, 0.9])
        #expect(transcript.words.map(\.end) == [0.8, 2])
        #expect(transcript.changes?.map(\.rule) == [.fillers, .words, .filter])
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.transcript == "Run kubectl.")
        #expect(manifest.raw == "Um, run cube control")
        #expect(manifest.changes?.count == 3)
    }

    /// A phrase may begin in one sentence and end in the next.
    @Test func wordsAndSentencesAreThoseOfTheText() {
        var words = Transcript("Um, run cube control. Fine, um, yes", language: "en")
        let said = ["Um", "run", "cube", "control", "Fine", "um", "yes"]
        words.words = said.enumerated().map { number, word in
            RecognizedWord(text: word, start: Double(number), end: Double(number) + 0.5)
        }
        words.segments = [
            RecognizedWord(text: "Um, run cube", start: 0, end: 3),
            RecognizedWord(text: "control. Fine,", start: 3, end: 5),
            RecognizedWord(text: "um, yes", start: 5, end: 7),
        ]
        words.apply(rules(), in: nil)
        #expect(words.text == "Run kubectl. Fine, yes")
        #expect(words.words.map(\.text) == ["Run", "kubectl", "Fine", "yes"])
        #expect(words.words.map(\.end) == [1.5, 3.5, 4.5, 6.5])
        #expect(words.segments.map(\.text) == ["Run kubectl.", "Fine,", "yes"])
        #expect(words.segments.map(\.end) == [3, 5, 7])
    }

    /// The file of a process that was killed goes with the next one.
    @Test func filesOfTheDeadAreRemoved() throws {
        let folder = try TemporaryFolder()
        // No process has this number: the kernel's highest is 4,194,304.
        try folder.write(Array("a".utf8), to: "utter-take-999999999-1.txt")
        try folder.write(Array("a".utf8), to: "utter-take-\(getpid())-1.txt")
        var file: TextFile? = try TextFile(Array("b".utf8), named: "take", in: folder.path)
        let path = try #require(file?.path)
        #expect(try readFile(path) == Array("b".utf8))
        file = nil
        #expect(try folder.names(in: ".") == ["utter-take-\(getpid())-1.txt"])
    }

    /// The disk has the answer by the time that the filter runs, so that a kill costs none.
    @Test func theAnswerIsDurableBeforeTheFilterRuns() async throws {
        let bench = try Bench()
        let seen = bench.folder.path("seen")
        let takes = bench.folder.path("state/takes")
        let take = try take(bench, filteredBy: "cat \(takes)/*/take.json > \(seen); exit 1")
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "Run kubectl")
        #expect(
            outcome.notices == [
                .unfiltered(
                    reason: "the filter ended with status 1; the text is the one before it")
            ])
        let manifest = String(decoding: try readFile(seen), as: UTF8.self)
        #expect(manifest.contains(#""state" : "answered""#))
        #expect(manifest.contains(#""transcript" : "Run kubectl""#))
    }

    /// The service has heard something, which no rule may turn into a failure.
    @Test func aTextOfWhichNothingIsLeftIsAnAnswer() async throws {
        let bench = try Bench()
        let take = try take(bench, answer: #"{"text": "Um.", "language": "english"}"#)
        #expect(try await take.end().result.get().text == "")
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.state == .answered)
        #expect(manifest.transcript == nil)
        #expect(manifest.raw == "Um.")
    }
}
