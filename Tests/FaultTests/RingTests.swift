// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore

/// A voice whose program is killed while a disk does not answer: what was said is in its ring.
@Suite struct RingTests {
    /// A write that hangs once the take is on its way: what is said goes on to the service, and a
    /// kill loses nothing of it.
    @Test(arguments: ["write", "fdatasync", "allocate"])
    func aDiskThatHangsHoldsBackNoByte(_ operation: String) async throws {
        let bench = try FaultBench()
        let card = try VirtualMicrophone()
        let run = try bench.start(
            ["record", "-q"], FileFaults(hanging: [operation], from: 60), microphone: card)
        _ = try #require(await bench.server.wait(untilBytes: 96_000))
        run.signal(SIGKILL)
        _ = try await run.result()
        let sent = try #require(bench.server.requests.first).body
        #expect(sent == WAVBytes.pcm((0..<sent.count / 2).map { VirtualMicrophone.sample(at: $0) }))
        #expect(try await bench.run(["list"]).status == .exited(0))
        let audio = try #require(try bench.takes().first?.audio)
        #expect(audio.dropFirst(44).starts(with: sent))
    }

    /// A voice that was taken back is nowhere, even when its program is killed.
    @Test func whatWasCancelledIsNotFoundAgain() async throws {
        let bench = try FaultBench()
        let card = try VirtualMicrophone()
        let run = try bench.start(
            ["record", "-q"], FileFaults(hanging: ["mkdir"]), microphone: card)
        let rings = RingFolder(ofSpool: bench.stateFolder)
        let count: @Sendable () -> Int = {
            // A folder that is missing has none.
            RingFolder.usualPaths.compactMap { try? Folder.names(at: $0 + "/rings") }.joined()
                .count { $0.hasPrefix(rings.prefix) }
        }
        #expect(await comesTrue { card.account.captured >= 8_000 && count() == 1 })
        run.signal(SIGINT)
        #expect(await comesTrue { count() == 0 })
        run.signal(SIGKILL)
        _ = try await run.result()
        #expect(try await bench.run(["list"]).status == .exited(0))
        #expect(try bench.takes().isEmpty)
    }

    /// Each operation hangs in turn, and with it all like it.
    @Test(
        arguments: ["mkdir", "create", "write", "rename", "allocate", "fdatasync", "fsync"],
        ["pcm", "ogg-opus"])
    func aKillLosesNothingThatWasSaid(_ operation: String, _ format: String) async throws {
        let bench = try FaultBench()
        let card = try VirtualMicrophone()
        let run = try bench.start(
            ["record", "-q", "--format", format], FileFaults(hanging: [operation]),
            microphone: card)
        // The last periods may not be read yet.
        let isHeard = await comesTrue {
            card.account.captured >= 16_000 + 2 * card.account.period
        }
        #expect(isHeard)
        run.signal(SIGKILL)
        _ = try await run.result()
        let list = try await bench.run(["list"])
        #expect(list.status == .exited(0))
        let takes = try bench.takes()
        #expect(takes.count == 1, "\(list.outputText)")
        let take = try #require(takes.first)
        let audio = try #require(take.audio)
        #expect(try #require(take.manifest?.frames) >= 16_000)
        if format == "pcm" {
            let samples = WAVBytes.pcm(
                (0..<(audio.count - 44) / 2).map { VirtualMicrophone.sample(at: $0) })
            #expect(Array(audio.dropFirst(44)) == samples)
        }
        // Nothing of it is left in memory: it is the disk's.
        #expect(try await bench.run(["list"]).outputText == list.outputText)
        #expect(try bench.takes().first?.audio == audio)
    }
}
