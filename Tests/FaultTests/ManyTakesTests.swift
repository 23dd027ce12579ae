// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import TakeStore

/// What a take costs beside ten thousand others, in file operations.
@Suite struct ManyTakesTests {
    /// How many takes of each kind there are; those with audio are spread over the rest.
    private static let (kept, dead, released, texts) = (850, 100, 40, 9_010)
    private static let waiting = kept + dead
    /// Takes that are always looked at, since they may have got audio since the note.
    private static let newest = 32
    private static let audioNames = 6
    /// The most looks at takes that one which begins and ends may cost.
    private static let looks = 5 * (waiting + released + newest * audioNames)

    private let bench: FaultBench

    init() throws {
        bench = try FaultBench()
        for name in [".local", ".local/state", ".local/state/utter", ".local/state/utter/takes"] {
            mkdir(bench.home + "/" + name, 0o700)
        }
        let kinds: [(count: Int, state: String, isReleased: Bool, hasAudio: Bool)] = [
            (Self.kept, "kept", false, true), (Self.dead, "recording", false, true),
            (Self.released, "answered", true, true), (Self.texts, "answered", true, false),
        ]
        var number = 0
        for kind in kinds {
            for index in 0..<kind.count {
                let rank = index * 10_000 / kind.count
                let id = "20261101-\(100_000 + rank)-abcdefg\(10_000 + number)"
                number += 1
                let place = FaultBench.takes + "/" + id
                mkdir(bench.folder.path(place), 0o700)
                let text = """
                    {"version":1,"id":"\(id)","state":"\(kind.state)","created":"2026-11-01T10:00:00Z",\
                    "audio":"audio.wav","format":"wav","source":"default","url":"http://127.0.0.1:9/",\
                    "byteCount":46,"frames":1,"attempts":0,"isReleased":\(kind.isReleased),\
                    "keepsAudioFor":86400}
                    """
                try bench.folder.write(Array(text.utf8), to: place + "/take.json")
                if kind.hasAudio {
                    try bench.folder.write(
                        [UInt8](repeating: 1, count: 46), to: place + "/audio.wav")
                }
            }
        }
        #expect(number == 10_000)
        // What is done once an hour.
        SpoolRules().sweep(try TakeStore(stateFolder: bench.stateFolder))
    }

    /// Sends the recording, and returns what was done to the folder of takes and to other takes.
    private func send(_ more: [String] = []) async throws -> (CommandResult, [FileOperation]) {
        bench.forgetTrace()
        let arguments = ["send", "-c", "retry.never=true"] + more + [bench.recording]
        let result = try await bench.run(arguments, FileFaults())
        return (
            result,
            try bench.trace.filter {
                $0.path.hasSuffix("/takes") || $0.path.contains("/takes/20261101-")
            }
        )
    }

    private func audioCount() throws -> Int {
        try bench.folder.names(in: FaultBench.takes).count { name in
            access(bench.folder.path(FaultBench.takes) + "/\(name)/audio.wav", F_OK) == 0
        }
    }

    @Test func aTakeCostsNoMoreThanTheLimitAllows() async throws {
        let (result, operations) = try await send()
        #expect(result.outputText == FaultBench.transcript + "\n")
        let counts = Dictionary(grouping: operations, by: \.name).mapValues(\.count)
        // A few looks at each take that waits or has audio, at the newest by all names of audio; the
        // texts alone would be more.
        #expect(counts["stat", default: 0] <= Self.looks, "\(counts)")
        // Only what may be deleted has its manifest read, and the newest, at the end.
        let read = operations.count { $0.name == "open" && $0.path.hasSuffix("/take.json") }
        #expect(read <= Self.released + Self.newest, "\(counts)")
        #expect(counts["list", default: 0] <= 8, "\(counts)")
        #expect(operations.allSatisfy { !$0.isChange || $0.path.hasSuffix("/takes") })
        // Nothing has gone.
        #expect(try audioCount() == Self.waiting + Self.released)
    }

    @Test func pastTheLimitNothingIsDeletedAndNotMoreIsLookedAt() async throws {
        for command in ["doctor", "last"] { _ = try await bench.run([command]) }
        let (result, operations) = try await send(["-c", "limits.takes=500"])
        #expect(result.outputText == FaultBench.transcript + "\n")
        #expect(
            result.errorText.contains("too many recordings wait already: 500 is the limit"),
            "\(result.errorText)")
        #expect(operations.count { $0.name == "stat" } <= Self.looks)
        #expect(!operations.contains { $0.name.hasPrefix("unlink") })
        #expect(try audioCount() == Self.waiting + Self.released)
    }
}
