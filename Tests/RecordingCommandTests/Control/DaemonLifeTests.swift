// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform

/// What takes and clients leave behind in a daemon that lives for months: nothing.
@Suite struct DaemonLifeTests {
    /// What a process has of what the system counts.
    private struct Footprint {
        var threads: Int
        /// Its open descriptors; the size of its table of them where only root may look.
        var descriptors: Int
        /// Its resident memory in KiB.
        var memory: Int

        init(of process: Int32) throws {
            let folder = "/proc/\(process)"
            let status = String(decoding: try readFile("\(folder)/status"), as: UTF8.self)
            func number(_ name: String) throws -> Int {
                let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name) })
                return try #require(
                    line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first)
            }
            (threads, memory) = (try number("Threads:"), try number("VmRSS:"))
            // Nothing may be read there of a program that forbids dumps, but by root.
            let names = try? Folder.make(at: "\(folder)/fd").names()
            descriptors = try names?.count ?? number("FDSize:")
        }
    }

    /// What a service answers: of twenty takes one is refused, and one for its token.
    private static func answer(_ number: Int) -> ServerAnswer {
        switch number % 20 {
        case 7: ServerAnswer(status: 400, text: "no")
        case 13: ServerAnswer(status: 401, text: "who?")
        default: ServerAnswer(status: 200, text: "take \(number)")
        }
    }

    /// Begins and ends a take, as its number says, and says what its client was told.
    private func take(_ number: Int, _ bench: ControlBench) async throws -> String {
        let start = try bench.ask("start")
        #expect(try await start.rest().contains(#""kind":"done""#))
        _ = try #require(await bench.server.wait(untilBytes: 1, ofRequest: number))
        if number % 20 == 3 {
            // In the middle of its request.
            try bench.connect().say(#"{"version":1,"comm"#)
        }
        let stop = try bench.ask("stop")
        // One goes once it was promised a text, and before it has it.
        if number % 20 == 11 {
            let promised = try await stop.next()
            // A start before the end of the recording would go on with it.
            _ = try #require(await bench.server.request(number) { $0.isComplete })
            return promised
        }
        stop.finish()
        return try await stop.rest()
    }

    /// Takes in a daemon, from `first` on, with a follower that never reads beside every tenth.
    private func takes(_ numbers: Range<Int>, _ bench: ControlBench) async throws -> Int {
        var deaf: [RawControlClient] = []
        var textCount = 0
        for number in numbers {
            if number % 10 == 9 {
                deaf = try deaf.suffix(20) + [bench.ask("follow")]
            }
            if try await take(number, bench).contains(#""text":"take "#) { textCount += 1 }
        }
        return textCount
    }

    @Test(arguments: getenv("UTTER_SOAK") == nil ? [300] : [5_000])
    func aDaemonAfterManyTakesHasWhatItHadAfterTen(_ count: Int) async throws {
        let answered = Observed(0)
        let bench = try ControlBench(
            RecordingServer(otherwise: [
                .readHead, .readBodyToEnd,
                .respondBy { _ in
                    Self.answer(
                        answered.update { number in
                            number += 1
                            return number
                        })
                },
            ]), ["UTTER_TOKEN": "a-token", "UTTER_MAX_TAKES": "100000"])
        let daemon = try await bench.daemon("-c", "recording.tail=0", "-c", "recording.min=0")
        _ = try await takes(0..<10, bench)
        let before = try Footprint(of: daemon.processIdentifier)
        let textCount = try await takes(10..<count, bench)
        #expect(textCount >= (count - 10) * 8 / 10)
        // Followers that do not read are let go in their time.
        let process = daemon.processIdentifier
        #expect(
            await comesTrue {
                // One that cannot be read is no less.
                guard let now = try? Footprint(of: process) else { return false }
                return now.threads <= before.threads && now.descriptors <= before.descriptors
            })
        let memory = try Footprint(of: process).memory
        #expect(Sanitizer.isUsed || memory <= before.memory + 8_192)
        try await daemon.terminate()
    }
}
