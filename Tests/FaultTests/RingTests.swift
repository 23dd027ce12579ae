// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioCore
@testable import LinuxPlatform
@testable import TakeStore

extension RingFolder {
    /// The takes of a spool that have rings.
    static func names(ofSpool spool: String) -> Set<String> {
        Set(files(ofSpool: spool).map { String($0.suffix(28)) })
    }

    static func remains(ofSpool spool: String) -> [RingRemains] {
        // Its program may remove it meanwhile.
        files(ofSpool: spool).compactMap { (try? readFile($0)).flatMap { RingRemains($0) } }
    }

    private static func files(ofSpool spool: String) -> [String] {
        usualPaths.flatMap { path in
            // A folder that is missing has none.
            ((try? Folder.names(at: path + "/rings")) ?? [])
                .filter { $0.hasPrefix(RingFolder(ofSpool: spool).digest) }
                .map { "\(path)/rings/\($0)" }
        }
    }

    /// Takes places in memory, as other takes of the spool do; they go with the temporary folder in
    /// which it is.
    static func occupy(_ places: Int, ofSpool spool: String) throws {
        let path = try #require(usualPaths.first { Folder.isFolder(at: Folder.parent(of: $0)) })
        let folder = try Folder.make(at: path + "/rings")
        for number in 0..<places {
            _ = try folder.createFile(RingFolder(ofSpool: spool).digest + "\(number)")
        }
    }
}

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
        #expect(sent == VirtualMicrophone.pcm(sent.count / 2))
        // A disk without room has to wait.
        _ = try await bench.run(
            ["list"],
            FileFaults(
                failure: .init(operation: 1, error: ENOSPC, onward: true, kinds: ["write"])))
        #expect(RingFolder.names(ofSpool: bench.stateFolder).count == 1)
        #expect(try await bench.run(["list"]).status == .exited(0))
        let audio = try #require(try bench.takes().first?.audio)
        #expect(audio.dropFirst(44).starts(with: sent))
    }

    /// A write that does not return holds back the end of the body as little as its bytes.
    ///
    /// No service waits for a disk until it gives up. A kill loses nothing, and the take may be delivered.
    @Test func aDiskThatHangsHoldsBackNoEnd() async throws {
        let bench = try FaultBench()
        let card = try VirtualMicrophone()
        let run = try bench.start(
            ["record", "--for", "3"], FileFaults(hanging: ["write"], from: 40), microphone: card)
        let request = try #require(await bench.server.request(0) { $0.isComplete })
        #expect(request.body == VirtualMicrophone.pcm(request.body.count / 2))
        #expect(request.body.count >= 96_000)
        #expect(await run.wait(for: "warning: the disk is slow", in: .error))
        run.signal(SIGKILL)
        _ = try await run.result()
        let list = try await bench.run(["list"])
        #expect(list.outputText.contains("may have been delivered"), "\(list.outputText)")
        let audio = try #require(try bench.takes().first?.audio)
        #expect(audio.dropFirst(44).elementsEqual(request.body))
    }

    /// The thread that waits for the disk cannot say so, and another one does.
    @Test(arguments: ["write", "fdatasync"])
    func aDiskThatHangsIsToldWhileItDoes(_ operation: String) async throws {
        let bench = try FaultBench()
        let card = try VirtualMicrophone()
        let run = try bench.start(
            ["record"], FileFaults(hanging: [operation], from: 60), microphone: card)
        #expect(await run.wait(for: "warning: the disk is slow", in: .error))
        run.signal(SIGKILL)
        _ = try await run.result()
    }

    /// A disk that has not answered from the start: a voice is sent all the same, again after a
    /// connection is lost, and the take that is found later says that it may have been delivered.
    @Test(arguments: ["mkdir", "create", "write", "rename"])
    func aDiskThatNeverAnswersHoldsBackNoByte(_ operation: String) async throws {
        let bench = try FaultBench(first: [[.readHead, .readBody(bytes: 16_000), .reset]])
        let card = try VirtualMicrophone()
        let run = try bench.start(
            ["record", "-q"], FileFaults(hanging: [operation]), microphone: card)
        _ = try #require(await bench.server.wait(untilBytes: 96_000, ofRequest: 1))
        run.signal(SIGKILL)
        _ = try await run.result()
        let requests = bench.server.requests
        #expect(requests.count == 2)
        let sent = try #require(requests.last).body
        #expect(sent == VirtualMicrophone.pcm(sent.count / 2))
        let list = try await bench.run(["list"])
        #expect(list.status == .exited(0))
        let take = try #require(try bench.takes().first)
        #expect(try #require(take.audio).dropFirst(44).starts(with: sent))
        #expect(requests.allSatisfy { $0["Idempotency-Key"]?.hasPrefix("\"\(take.id)") == true })
        #expect(take.manifest?.attempts == 2)
        #expect(list.outputText.contains("may have been delivered"), "\(list.outputText)")
    }

    /// A pipe is read and sent, too, while the disk has not answered from the start.
    @Test(arguments: ["mkdir", "create", "write", "rename"], [true, false])
    func aDiskThatNeverAnswersHoldsBackNoByteOfAPipe(_ operation: String, _ isNamed: Bool)
        async throws
    {
        let bench = try FaultBench(milliseconds: 1_900)
        let pipe = try FullPipe(bench.folder.path("voice.fifo"), try bench.folder.read("voice.wav"))
        let run = try bench.start(
            ["send", "-q", isNamed ? pipe.path : "-"], FileFaults(hanging: [operation]),
            shell: isNamed ? nil : #"exec "$0" "$@" < \#(pipe.path)"#)
        _ = try #require(await bench.server.wait(untilBytes: bench.samples.count))
        run.signal(SIGKILL)
        _ = try await run.result()
        #expect(bench.server.requests.first?.body == bench.samples)
        let list = try await bench.run(["list"])
        #expect(list.status == .exited(0))
        let take = try #require(try bench.takes().first)
        #expect(try #require(take.audio).dropFirst(44).elementsEqual(bench.samples))
        #expect(list.outputText.contains("may have been delivered"), "\(list.outputText)")
    }

    /// A voice that was taken back is kept as such, even when its program is killed: no later command
    /// sends it.
    @Test func whatWasCancelledIsNotSent() async throws {
        let bench = try FaultBench()
        let card = try VirtualMicrophone()
        let run = try bench.start(
            ["record", "-q"], FileFaults(hanging: ["mkdir"]), microphone: card)
        let rings: @Sendable () -> [RingRemains] = {
            RingFolder.remains(ofSpool: bench.stateFolder)
        }
        #expect(await comesTrue { card.account.captured >= 8_000 && rings().count == 1 })
        run.signal(SIGINT)
        #expect(await comesTrue { rings().first?.isCancelled == true })
        run.signal(SIGKILL)
        _ = try await run.result()
        let sent = bench.server.requests.count
        #expect(try await bench.run(["flush"]).status == .exited(0))
        let take = try #require(try bench.takes().first)
        #expect(take.manifest?.state == "cancelled")
        #expect(try #require(take.manifest?.frames) >= 8_000)
        #expect(bench.server.requests.count == sent)
    }

    @Test(arguments: [["record", "--for", "0.5"], ["send", "-"]])
    func aTakeThatHasEndedHasNoRing(_ arguments: [String]) async throws {
        let bench = try FaultBench()
        let card = try VirtualMicrophone()
        let shell = arguments.last == "-" ? #"exec "$0" "$@" < \#(bench.recording)"# : nil
        let result = try await bench.start(arguments, shell: shell, microphone: card).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(RingFolder.names(ofSpool: bench.stateFolder) == [])
    }

    @Test(arguments: [0, 8]) func whyAKillWouldCostMoreIsSaidInDetail(_ others: Int) async throws {
        let bench = try FaultBench()
        try RingFolder.occupy(others, ofSpool: bench.stateFolder)
        let card = try VirtualMicrophone()
        for detail in [["-v"], []] {
            let run = try bench.start(["record", "--for", "0.5"] + detail, microphone: card)
            let said = try await run.result().errorText
            let isSaid = said.contains("if this program is killed, what the disk does not have yet")
            #expect(isSaid == (others == 8 && detail == ["-v"]), "\(said)")
        }
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
            #expect(
                Array(audio.dropFirst(44)) == VirtualMicrophone.pcm((audio.count - 44) / 2))
        }
        // Nothing of it is left in memory: it is the disk's.
        #expect(try await bench.run(["list"]).outputText == list.outputText)
        #expect(try bench.takes().first?.audio == audio)
    }
}
