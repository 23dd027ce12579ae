// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterCommands

/// Many clients at once: each take ends in one way, and each text is printed once or accounted for.
@Suite(.serialized) struct ControlRaceTests {
    /// Each is a program that is started: more of them would measure how fast that is.
    private static let clients = 40

    /// A service whose answer to a take is the take's name.
    private static func server() throws -> RecordingServer {
        try RecordingServer(otherwise: [
            .readHead, .readBodyToEnd,
            .respondBy { request in
                let name = request["Idempotency-Key"]?.filter { $0 != "\"" } ?? ""
                return ServerAnswer(text: name)
            },
        ])
    }

    @Test(arguments: [false, true])
    func noTakeIsLostInARaceOfPrograms(_ hasDaemon: Bool) async throws {
        let bench = try ControlBench(Self.server())
        let daemon = hasDaemon ? try await bench.daemon() : nil
        // What each of them does is chosen by its number, so that a run can be had again.
        // A recording goes on when they begin: all that they start may be stopped at once.
        let script = """
            "$0" start &
            read -r line
            for i in $(seq \(Self.clients)); do
                case $((i * 7 % 10)) in
                    0 | 1 | 2) "$0" start & ;;
                    3 | 4 | 5) "$0" stop & ;;
                    6 | 7) "$0" toggle & ;;
                    8) "$0" status >/dev/null & ;;
                    9) "$0" stop --take none & ;;
                esac
            done
            wait
            """
        let storm = try bench.bench.startShell(script, [], input: .pipe)
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        storm.write(Array("\n".utf8))
        // A recording that is left over is ended; one that is about to begin may come later. No stop
        // is waited for: one whose take a start takes up again waits for the next stop.
        var stops: [BenchRun] = []
        while storm.status == nil {
            stops.append(try bench.start("stop"))
            _ = try await bench.run("status")
        }
        let result = try await storm.result()
        stops.append(try bench.start("stop"))
        var printed = result.outputText.split(separator: "\n").map(String.init)
        for stop in stops {
            printed += try await stop.result().outputText.split(separator: "\n").map(String.init)
        }
        daemon?.signal(SIGTERM)
        let errors = try await result.errorText + (daemon?.result().errorText ?? "")
        // Each text at most once, and none that is no take's.
        #expect(Set(printed).count == printed.count)
        let takes = try bench.bench.takes()
        #expect(Set(printed).isSubset(of: takes.map(\.id)))
        #expect(!takes.isEmpty)
        for take in takes {
            let state = try take.manifest["state"]
            switch state {
            case .string("answered"):
                let isTold = errors.contains("the text of take \(take.id) was not printed")
                #expect(printed.contains(take.id) != isTold, "\(take.id)")
            case .string("kept"), .string("cancelled"): break
            default: Issue.record("take \(take.id) is \(String(describing: state))")
            }
        }
        #expect(!errors.contains("does not answer"))
        #expect(!errors.contains("internal"))
        #expect(!bench.hasSocket)
    }
}
