// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Utter

/// Each press has its own recorder, and with it its own options.
@Suite struct HandoverTests {
    private let bench: ControlBench
    private let other: RecordingServer

    /// Both services need a while for an answer, which is the path that was asked for.
    init() throws {
        let script: [ServerStep] = [
            .readHead, .readBodyToEnd, .stall(.milliseconds(400)),
            .respondBy { request in
                ServerAnswer(text: String(request.target.dropFirst()))
            },
        ]
        bench = try ControlBench(
            RecordingServer(otherwise: script), ["UTTER_FOREGROUND": "false"])
        other = try RecordingServer(otherwise: script)
    }

    private func heard(_ server: RecordingServer) -> [String] {
        server.requests.map { String($0.target.dropFirst()) }
    }

    /// Two services in turn, the pauses from 0 to 400 ms.
    @Test(arguments: getenv("UTTER_SOAK") == nil ? [(1, 12), (2, 12)] : [(3, 200)])
    func eachPressGoesToItsServiceAndItsTextToItsStop(_ seed: Int, _ presses: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let script = (0..<presses).map { number in
            let url = (number.isMultiple(of: 2) ? bench.server : other).url("/press-\(number)")
            let pauses = (0..<2).map { _ in Double.random(in: 0...0.4, using: &random) }
            return """
                "$0" start -q -c recording.min=0 --to \(url) >&2 || echo "refused \(number)"
                sleep \(0.3 + pauses[0])
                { echo "\(number) $("$0" stop)"; } &
                sleep \(pauses[1])
                """
        }
        let run = try bench.bench.startShell(script.joined(separator: "\n") + "\nwait", [])
        let result = try await run.result()
        let lines = result.outputText.split(separator: "\n").map(String.init).sorted()
        let expected = (0..<presses).map { "\($0) press-\($0)" }.sorted()
        #expect(lines == expected, "seed \(seed): \(result.errorText)")
        let numbers = (0..<presses).map { "press-\($0)" }
        let isEven = { (text: String) in Int(text.dropFirst(6))?.isMultiple(of: 2) == true }
        #expect(heard(bench.server) == numbers.filter(isEven))
        #expect(heard(other) == numbers.filter { !isEven($0) })
    }

    @Test func aPressInTheTailOfAnotherEndsThatTail() async throws {
        let long = ["-c", "recording.tail=30s"]
        _ = try await bench.bench.start(["start", "--to", bench.server.url("/one")] + long).result()
        _ = try #require(await bench.server.wait(untilBytes: 8_000))
        let first = try bench.start("stop")
        #expect(try await bench.reaches(.tail))
        let start = try await bench.run("start", "--to", other.url("/two"))
        #expect(start.errorText.hasPrefix("utter: recording take "))
        _ = try #require(await other.wait(untilBytes: 8_000))
        #expect(try await first.result().outputText == "one\n")
        #expect(try await bench.run("stop").outputText == "two\n")
    }

    @Test func aStartBeforeTheStopOfTheTakeBeforeIsObeyedAfterIt() async throws {
        _ = try await bench.run("start", "--to", bench.server.url("/one"))
        _ = try #require(await bench.server.wait(untilBytes: 8_000))
        let stop = try bench.bench.startShell(
            "echo released; read -r line; exec \"$0\" stop", [], input: .pipe)
        #expect(await stop.wait(for: "released", in: .output))
        let start = try bench.start("start", "--to", other.url("/two"))
        stop.write(Array("\n".utf8))
        #expect(try await stop.result().outputText == "released\none\n")
        #expect(try await start.result().errorText.hasPrefix("utter: recording take "))
        _ = try #require(await other.wait(untilBytes: 8_000))
        #expect(try await bench.run("stop").outputText == "two\n")
    }

    @Test func aStartThatFindsARecordingSaysWhoseOptionsCount() async throws {
        _ = try await bench.run("start")
        let same = try await bench.run("start")
        #expect(same.status == .exited(0))
        #expect(same.errorText.hasPrefix("utter: already recording take "))
        #expect(!same.errorText.contains("options"))
        let start = try await bench.run("start", "--to", other.url("/never"))
        #expect(start.status == .exited(0))
        #expect(start.errorText.contains("; the options of its own start count\n"))
        #expect(try await bench.run("cancel").status == .exited(0))
        #expect(other.requests.isEmpty)
    }
}
