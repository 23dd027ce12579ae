// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter
@testable import UtterControl

/// Keys that move at the other end of the control socket.
@Suite struct ControlKeyTests {
    private let bench: ControlBench
    private let daemon: CommandRun
    private let hand: Hand

    init() async throws {
        bench = try ControlBench(.hearing("heard"))
        daemon = try await bench.daemon()
        hand = Hand(bench: bench)
    }

    /// A client whose key moves, each time in a connection of its own.
    private struct Hand {
        let bench: ControlBench
        var key = "F9"
        /// When its key first went down.
        let began = ControlRequest.clock

        /// Says how the key moved, so long after it first went down.
        func move(
            _ command: String, after pause: Duration = .zero, more: String = ""
        ) throws -> RawControlClient {
            let time = began + Int64(pause / .nanoseconds(1))
            return try say(command, #","time":\#(time)"# + more)
        }

        func say(_ command: String, _ more: String) throws -> RawControlClient {
            try bench.ask(command, #","key":"\#(key)"\#(more)"#)
        }
    }

    /// What a client was told until the connection ended.
    private func rest(of client: RawControlClient) async throws -> [ControlAnswer] {
        client.finish()
        return try await client.rest().split(separator: "\n").compactMap {
            ControlAnswer(line: Array($0.utf8))
        }
    }

    private func isDone(_ client: RawControlClient) async throws -> Bool {
        try await rest(of: client) == [.done()]
    }

    @Test func aKeyThatIsHeldRecordsUntilItGoesUp() async throws {
        let press = try hand.move("keyDown", more: #","report":true"#)
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        #expect(try await isDone(hand.move("keyUp", after: .seconds(1))))
        press.finish()
        let lines = try await press.rest().split(separator: "\n")
        let answers = lines.compactMap { ControlAnswer(line: Array($0.utf8)) }
        let take = try #require(answers.first?.take)
        #expect(answers.first?.kind == .waiting)
        #expect(answers.first?.message == "recording take \(take)")
        let result = try #require(answers.last { $0.kind == .result })
        #expect(result.take == take)
        #expect(result.text == "heard")
        let report = try ParsedJSON(Array(try #require(lines.last).utf8))
        #expect(report["text"] == .string("heard"))
    }

    @Test func aTapGoesOnUntilTheNextPressHoweverLateTheLinesCome() async throws {
        let press = try hand.move("keyDown")
        // More than a tap may last.
        _ = try #require(await bench.server.wait(untilBytes: 16_000))
        #expect(try await isDone(hand.move("keyUp", after: .milliseconds(100))))
        #expect(try await bench.status().phase == .recording)
        #expect(try await isDone(hand.move("keyDown", after: .milliseconds(600))))
        #expect(try await isDone(hand.move("keyUp", after: .milliseconds(650))))
        let answers = try await rest(of: press)
        let messages = answers.compactMap(\.message)
        #expect(messages.last == "recording goes on; press F9 once more to end it")
        #expect(messages.count == 2)
        #expect(answers.last?.text == "heard")
        #expect(bench.server.requests.count == 1)
    }

    @Test func aKeyThatDoesNotGoUpIsTakenToBeStuck() async throws {
        let bench = try ControlBench(.hearing("stuck"))
        let daemon = try await bench.daemon("--max", "25s")
        let hand = Hand(bench: bench)
        // A key that is held for 24 s already.
        let press = try hand.move("keyDown", after: .seconds(-24))
        let answers = try await rest(of: press)
        let messages = answers.compactMap(\.message)
        #expect(messages.count == 3)
        #expect(messages[1].hasPrefix("the recording ends in "))
        #expect(messages[2] == "F9 is taken to be stuck; the recording is sent")
        #expect(answers.last?.text == "stuck")
        // It goes up after all.
        #expect(try await isDone(hand.move("keyUp")))
        #expect(try await bench.run("status").outputText == "idle\n")
        #expect(daemon.errorText.contains("utter: F9 is taken to be stuck; the recording is sent"))
    }

    @Test func aPressRightAfterTheReleaseLosesNothing() async throws {
        let first = try hand.move("keyDown")
        _ = try #require(await bench.server.wait(untilBytes: 16_000))
        let release = try hand.move("keyUp", after: .milliseconds(450))
        let second = try hand.move("keyDown", after: .milliseconds(500))
        #expect(try await isDone(release))
        // It goes on in the tail, or begins the next take where that was over.
        let heard = try #require(
            ControlAnswer(line: Array(try await second.next().utf8.dropLast())))
        let isNext = heard.kind == .waiting
        let take = try #require(heard.take)
        #expect(
            heard.message
                == (isNext ? "recording take \(take)" : "recording goes on in take \(take)"))
        if isNext { _ = await bench.server.wait(untilBytes: 6_400, ofRequest: 1) }
        #expect(try await bench.status().phase == .recording)
        #expect(try await isDone(hand.move("keyUp", after: .seconds(2))))
        #expect(try await rest(of: first).last?.text == "heard")
        if isNext { #expect(try await rest(of: second).last?.text == "heard") }
        #expect(bench.server.requests.count == (isNext ? 2 : 1))
    }

    @Test func theKeyOfAnotherNeitherBeginsNorEnds() async throws {
        let other = Hand(bench: bench, key: "F10")
        let press = try hand.move("keyDown")
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        let answers = try await rest(of: other.move("keyDown", after: .seconds(1)))
        #expect(
            answers.map { $0.message?.wholeMatch(of: /already recording take \S+/) != nil }
                == [true])
        #expect(answers.first?.take == nil)
        #expect(try await isDone(other.move("keyUp", after: .seconds(2))))
        #expect(try await isDone(other.say("stop", #","take":"none""#)))
        #expect(try await bench.status().phase == .recording)
        #expect(try await isDone(hand.move("keyUp", after: .seconds(2))))
        #expect(try await rest(of: press).last?.text == "heard")
        #expect(bench.server.requests.count == 1)
    }

    @Test(arguments: [false, true])
    func aTakeWhoseKeyHasLostItsClientEnds(_ isLatched: Bool) async throws {
        do {
            let press = try hand.move("keyDown")
            _ = try #require(await bench.server.wait(untilBytes: 6_400))
            if isLatched {
                #expect(try await isDone(hand.move("keyUp", after: .milliseconds(10))))
            }
            withExtendedLifetime(press) {}
        }
        #expect(await daemon.wait(for: "was not printed", in: .error))
        #expect(try await bench.run("last").outputText == "heard\n")
        #expect(try await bench.run("status").outputText == "idle\n")
    }

    @Test func aStopOfAnotherProgramHasTheText() async throws {
        let press = try hand.move("keyDown")
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        #expect(try await bench.run("stop").outputText == "heard\n")
        let last = try #require(try await rest(of: press).last)
        #expect(last.kind == .done)
        #expect(
            last.message == "take \(last.take ?? "") was stopped elsewhere; its text goes there")
        #expect(try await isDone(hand.move("keyUp", after: .seconds(1))))
        // And a cancel is told to both.
        let again = try hand.move("keyDown", after: .seconds(2))
        _ = try #require(await bench.server.wait(untilBytes: 6_400, ofRequest: 1))
        #expect(try await bench.run("cancel").errorText.hasSuffix(" is cancelled\n"))
        #expect(try await rest(of: again).last?.message?.hasSuffix(" is cancelled") == true)
    }

    @Test func aPressThatIsTooLongAgoBeginsNothingAndATimeThatLiesAheadIsNow() async throws {
        for time in [Int64.min, -1, 0] {
            let answers = try await rest(of: hand.say("keyDown", #","time":\#(time)"#))
            #expect(answers.map(\.kind) == [.refused], "\(time)")
            #expect(answers.first?.message == "the key went down more than 30 s ago")
        }
        #expect(try await bench.run("status").outputText == "idle\n")
        let ahead = [Int64.max, ControlRequest.clock + 3_600_000_000_000]
        for (number, time) in ahead.enumerated() {
            let press = try hand.say("keyDown", #","time":\#(time)"#)
            // Longer than a tap.
            _ = try #require(await bench.server.wait(untilBytes: 20_000, ofRequest: number))
            #expect(try await isDone(hand.say("keyUp", #","time":\#(Int64.min)"#)))
            #expect(try await rest(of: press).last?.text == "heard", "\(time)")
        }
    }
}
