// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Utter
@testable import UtterControl

/// Many clients at once: each take ends in one way, and each text is printed once or accounted for.
@Suite(.serialized) struct ControlRaceTests {
    /// Each is a program that is started: more of them would measure how fast that is.
    private static let programs = 20
    /// Each is a connection.
    private static let clients = 200

    private let bench: ControlBench

    /// A service whose answer to a take is the take's name.
    init() throws {
        bench = try ControlBench(
            RecordingServer(otherwise: [
                .readHead, .readBodyToEnd,
                .respondBy { request in
                    ServerAnswer(text: request["Idempotency-Key"]?.filter { $0 != "\"" } ?? "")
                },
            ]))
    }

    @Test func noTakeIsLostInARaceOfPrograms() async throws {
        let options = "-c recording.min=0"
        // What each of them does is chosen by its number, so that a run can be had again.
        // A recording goes on when they begin: all that they start may be stopped at once.
        let script = """
            "$0" start \(options) &
            read -r line
            for i in $(seq \(Self.programs)); do
                case $((i * 7 % 10)) in
                    0 | 1 | 2) "$0" start \(options) & ;;
                    3 | 4 | 5) "$0" stop & ;;
                    6 | 7) "$0" toggle \(options) & ;;
                    8) "$0" status >/dev/null & ;;
                    9) "$0" stop --take none & ;;
                esac
            done
            wait
            """
        let storm = try bench.bench.startShell(script, [], input: .pipe)
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        storm.write(Array("\n".utf8))
        let swept = try await sweep { storm.status == nil }
        let result = try await storm.result()
        let printed = result.outputText.split(separator: "\n").map(String.init) + swept
        try expectEachTextOnce(printed, result.errorText)
    }

    /// Each of them begins or ends something, however soon what it ends is over by itself.
    @Test func togglesAtOnceFindWhatTheyEnd() async throws {
        let script = """
            for round in 1 2; do
                for i in $(seq 10); do { "$0" toggle >/dev/null; echo "status $?."; } & done
                wait
            done
            """
        let storm = try bench.bench.startShell(script, [])
        // As many may be resumed as stopped: what is left over is given up.
        while storm.status == nil {
            await onOwnThread { _ = poll(nil, 0, 50) }
            _ = try await Self.text(of: ControlRequest(.cancel), at: bench.place)
        }
        let result = try await storm.result()
        #expect(result.outputText.matches(of: /status \d+\./).count == 20)
        #expect(!result.outputText.contains("status 67"), "\(result.errorText)")
        #expect(!result.errorText.contains("nothing is being recorded"))
    }

    @Test func aToggleIsNeverRefusedForWhatItEnds() async throws {
        let daemon = try await bench.daemon()
        let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<3 * Self.clients {
                group.addTask { [place = bench.place] in
                    try await onOwnThread {
                        Result { () throws(ControlFailure) in
                            // What is stopped at once is too short, and its take is soon over.
                            try ControlClient.ask(ControlRequest(.toggle), at: place)?.first.kind
                        }
                    }.get() == .refused
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(refused == 0)
        // A recording that the last of them has begun is shorter than a press.
        #expect(try await bench.reaches(.idle))
        // A busy disk may have hundreds of takes left to bring to rest; a daemon has 5 s for that.
        let isAtRest = await comesTrue { [bench] in
            // A folder may go while it is looked at.
            (try? bench.bench.takes().allSatisfy { take in
                ["cancelled", "answered", "kept"].contains(try take.manifest["state"]?.string)
            }) == true
        }
        #expect(isAtRest)
        try await daemon.terminate()
    }

    @Test func noTakeIsLostInARaceOfConnections() async throws {
        let daemon = try await bench.daemon("-c", "recording.min=0")
        let isOver = Mutex(false)
        let race = Task { [place = bench.place] in
            defer { isOver.withLock { $0 = true } }
            return try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<Self.clients {
                    let request =
                        switch number * 7 % 10 {
                        case 0...2: ControlRequest(.start)
                        case 3...5: ControlRequest(.stop, report: number.isMultiple(of: 2))
                        case 6, 7: ControlRequest(.toggle)
                        case 8: ControlRequest(.status)
                        default: ControlRequest(.stop, take: "none")
                        }
                    group.addTask { try await Self.text(of: request, at: place) }
                }
                return try await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
            }
        }
        let swept = try await sweep { !isOver.withLock { $0 } }
        let printed = try await race.value + swept
        daemon.signal(SIGTERM)
        try expectEachTextOnce(printed, await daemon.result().errorText)
    }

    /// Ends the recordings that are left over, while others may still begin, and the last one.
    ///
    /// No stop is waited for meanwhile: one whose take a start takes up again waits for the next.
    ///
    /// - Returns: the texts that came.
    private func sweep(while isGoingOn: () -> Bool) async throws -> [String] {
        var stops: [Task<String?, any Error>] = []
        var isLast = false
        while !isLast {
            // The programs have the processors to themselves in between.
            await onOwnThread { _ = poll(nil, 0, 50) }
            isLast = !isGoingOn()
            stops.append(
                Task { [place = bench.place] in
                    try await Self.text(of: ControlRequest(.stop), at: place)
                })
            _ = try await Self.text(of: ControlRequest(.status), at: bench.place)
        }
        var texts: [String] = []
        for stop in stops { texts += try await [stop.value].compactMap(\.self) }
        return texts
    }

    /// Asks, and says of a text that comes that it was taken.
    ///
    /// - Returns: the text; nil when there is none, or it is not the first to have it.
    private static func text(
        of request: ControlRequest, at place: SocketPlace
    ) async throws -> String? {
        try await onOwnThread {
            Result { () throws(ControlFailure) -> String? in
                // Without a daemon there is not always a process that answers.
                guard var conversation = try ControlClient.ask(request, at: place) else {
                    return nil
                }
                var answer = conversation.first
                while answer.kind == .waiting {
                    guard case .answer(let next) = conversation.client.next(within: .patience)
                    else { throw ControlFailure("no answer", status: .internalError) }
                    answer = next
                }
                guard answer.kind == .result else { return nil }
                _ = conversation.client.say(ControlRequest(.taken))
                return answer.text
            }
        }.get()
    }

    private func expectEachTextOnce(_ printed: [String], _ errors: String) throws {
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
