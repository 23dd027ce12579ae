// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

/// SIGKILL at the file operations of a recording that goes over a WebSocket.
@Suite struct SocketKillTests {
    private static let words = [3, 5, 7, 9, 11, 2, 4]

    private static func bench() throws -> FaultBench {
        let bench = try FaultBench()
        try bench.folder.write(
            WAVBytes.speech(SocketService.samples(words)), to: "voice.wav")
        return bench
    }

    /// The text of the next run is that of all that the dead program had recorded: each word once.
    @Test(arguments: ["deepgram", "openai"]) func noKillLosesOrDoublesAWord(
        _ name: String
    ) async throws {
        let service = try await SocketService()
        let options = [
            "-q", "--service", name, "-c", "way=live", "--to", service.url(name), "-c",
            "auth.optional=true", "-c", "retry.never=true",
        ]
        let rehearsal = try Self.bench()
        let send = ["send", "--pace", "realtime"] + options
        let whole = try await rehearsal.run(send + [rehearsal.recording], FileFaults())
        let wanted = SocketService.text(Self.words)
        #expect(whole.outputText == wanted + "\n", "\(whole.errorText)")
        let kills = KillTests.kills(in: try rehearsal.trace, twice: false)
        #expect(kills.count > 8 || FewFaults.areWanted && !kills.isEmpty)
        let wordCount = Mutex(0)
        let problems = try await inLanes(2, kills) { kill in
            let bench = try Self.bench()
            let dead = try await bench.run(send + [bench.recording], FileFaults(kill: kill))
            // Nothing was recorded, or all was said.
            guard let take = try bench.remains().last, take.manifest?.state != "answered" else {
                let printed = dead.outputText
                return ["", wanted + "\n"].contains(printed) ? [] : ["\(kill): \(printed)"]
            }
            let again = try await bench.run(["retry", "-q", "-c", "retry.never=true", "last"])
            // The sound may end within a word, which the service then hears.
            let text = again.outputText.split(whereSeparator: \.isWhitespace).map(String.init)
            wordCount.withLock { $0 += text.count }
            let isBeginning = wanted.split(separator: " ").map(String.init).starts(with: text)
            // More may have been in memory that outlives the process.
            let least = min((take.audio?.count ?? 0) / 9_600, Self.words.count)
            return isBeginning && text.count >= least
                ? [] : ["\(kill): \(text) of \(least), \(again.errorText)"]
        }
        #expect(wordCount.withLock { $0 } > Self.words.count || FewFaults.areWanted)
        report(harms: kills.count, "kills", lost: problems.count)
        #expect(problems == [])
    }
}
