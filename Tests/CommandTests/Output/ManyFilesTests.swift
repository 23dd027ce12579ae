// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import UtterCommands
@testable import UtterTerminal

/// `utter send` with many files: some at a time, in order, with one display for all.
@Suite struct ManyFilesTests {
    private static let files = [Clip.digits, .goForward, .cards].map(\.path)

    @Test func severalAreSentAtATimeAndPrintedInTheirOrder() async throws {
        let (first, second) = (Gate(), Gate())
        // The first is answered once the second has been, which is sent beside it.
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBodyToEnd, .open(second), .stallUntil(first),
                    .respond(status: 200, text: "answer"),
                ],
                [
                    .readHead, .readBodyToEnd, .stallUntil(second), .open(first),
                    .respond(status: 200, text: "answer"),
                ],
            ], otherwise: .answer(text: "answer"))
        let result = try await Bench(server: server).start(["send", "--jobs", "2"] + Self.files)
            .result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText == Self.files.map { "\($0): answer\n" }.joined())
        #expect(result.errorText.hasPrefix("utter: 3 of 3 answered; 0:0"), "\(result.errorText)")
        #expect(result.errorText.hasSuffix("× real time\n"), "\(result.errorText)")
    }

    @Test func noMoreAreSentAtATimeThanWanted() async throws {
        let counts = Mutex<(now: Int, most: Int)>((0, 0))
        let enter = ServerStep.perform { _ in
            counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        }
        let leave = ServerStep.perform { _ in counts.withLock { $0.now -= 1 } }
        let begun = (0..<7).map { _ in Gate() }
        // Each but the last is answered once the next has begun, so that two are always there.
        let scripts = begun.indices.map { number -> [ServerStep] in
            [
                .readHead, enter, .open(begun[number]), .readBodyToEnd,
                .stallUntil(begun[min(number + 1, 6)]), leave,
                .respond(status: 200, text: "answer"),
            ]
        }
        let server = try RecordingServer(scripts: scripts)
        let bench = try Bench(server: server)
        let files = [String](repeating: Clip.digits.path, count: 7)
        let result = try await bench.start(["send", "-q", "--jobs", "2"] + files).result()
        #expect(result.status == .exited(0))
        #expect(result.outputText.split(separator: "\n").count == 7)
        #expect(counts.withLock { $0.most } == 2)
        #expect(server.problems == [])
    }

    @Test func eachFailureNamesItsFileAndTheOthersGoOn() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "one"), .answer(status: 413, text: "")],
            otherwise: .answer(text: "three"))
        let bench = try Bench(server: server)
        let result = try await bench.run(
            "send", Clip.digits.path, Clip.goForward.path, "/none.wav", Clip.cards.path)
        #expect(result.status == .exited(69))
        #expect(result.outputText == "\(Clip.digits.path): one\n\(Clip.cards.path): three\n")
        #expect(result.errorText.contains("utter: error: \(Clip.goForward.path): "))
        #expect(result.errorText.contains("cannot open '/none.wav'"))
        #expect(result.errorText.contains("utter: 2 of 4 answered, 2 failed; "))
    }

    @Test func aServiceThatIsDownIsAskedOnce() async throws {
        let bench = try Bench()
        let result = try await bench.start(
            ["send", "-c", "retry.never=true"] + Self.files
        ).result()
        #expect(result.status == .exited(75))
        let skip = "utter: skipping the other files: cannot connect"
        #expect(result.errorText.ranges(of: skip).count == 1)
        #expect(result.errorText.contains("0 of 3 answered, 3 failed"))
        // What was not sent is in its file, and is not copied.
        #expect(try bench.takes().count == 1)
    }

    @Test func filesThatAllFailAreNotSkipped() async throws {
        let bench = try Bench()
        let result = try await bench.start(
            ["send", "-c", "retry.never=true", "--jobs", "4"] + Self.files.prefix(2)
        ).result()
        #expect(result.status == .exited(75))
        #expect(result.errorText.contains("0 of 2 answered, 2 failed"))
        #expect(!result.errorText.contains("skipping"))
    }

    @Test func oneDisplayShowsAllOfThem() async throws {
        let gate = Gate()
        let server = try RecordingServer(
            scripts: [.answer(text: "one")],
            otherwise: [
                .readHead, .readBodyToEnd, .stallUntil(gate), .respond(status: 200, text: "two"),
            ])
        let terminal = try PseudoTerminal(columns: 80)
        let run = try Bench(server: server).start(
            ["send", Clip.digits.path, Clip.cards.path], terminal: terminal)
        #expect(await run.wait(for: " 1/2, ", in: .screen))
        gate.open()
        let result = try await run.result()
        #expect(result.status == .exited(0))
        #expect(result.screenText.contains("send ▕"))
        // What stays is the summary alone.
        let lines = Screen(result.screenText, columns: 80).lines.filter { !$0.isEmpty }
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("utter: 2 of 2 answered; ") == true, "\(lines)")
    }

    @Test func ctrlCEndsAllOfThem() async throws {
        let server = try RecordingServer(otherwise: [.readHead, .readBodyToEnd, .readOn])
        let bench = try Bench(server: server)
        let run = try bench.start(["send", "--jobs", "2"] + Self.files)
        for number in 0...1 { _ = try #require(await server.request(number) { $0.isComplete }) }
        run.signal(SIGINT)
        let result = try await run.result()
        #expect(result.status == .exited(130))
        #expect(result.output.isEmpty)
        // The third was never begun: what was cancelled is there, and nothing else.
        #expect(server.requests.count == 2)
        let takes = try bench.takes()
        #expect(
            try takes.map { try $0.manifest["state"]?.string } == ["cancelled", "cancelled"])
        let spoken = [try Clip.digits.samples, try Clip.goForward.samples]
        #expect(Set(try takes.map { try $0.samples ?? [] }) == Set(spoken))
    }

    @Test(arguments: [20, 40, 60, 200])
    func theLineFitsTheTerminal(_ columns: Int) {
        let start = ContinuousClock.now
        let now = start + .seconds(10)
        var count = BatchCount("send", total: 10, at: start)
        count.parts = [3: 0.5, 5: 0.5, 6: 0.5]
        for index in 0..<4 { count.finish(index, .seconds(30), hasFailed: index == 3) }
        let line = count.screen(at: now).lines(
            columns: columns, rows: 24, hasColour: false, at: now)[0]
        #expect(line.count < columns)
        #expect(line.contains("4/10, 1 failed"))
        if columns >= 60 {
            #expect(line.contains("9.0× real time"))
            let bar = line.split(separator: "▕").last?.split(separator: "▏").first ?? ""
            #expect(bar.filter { $0 == "█" }.count == bar.count / 2)
        }
        #expect(
            count.summary(at: now)
                == "3 of 10 answered, 1 failed; 1:30 of audio in 0:10, 9.0× real time")
    }
}
