// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AudioCore
@testable import TakeStore
@testable import Utter

/// What takes long to open holds up no other take.
@Suite struct OpeningTests {
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        server = try RecordingServer(otherwise: .answer(text: "heard"))
        bench = try Bench()
    }

    private static let samples = (0..<16_000).map { Int16(truncatingIfNeeded: $0 * 7) }

    private func isHeard(_ outcome: TakeOutcome) -> Bool {
        outcome.result.map(\.text) == .success("heard")
    }

    /// Ends a take that was heard whole.
    private func endWhole(_ take: Take) async throws -> TakeOutcome {
        let outcome = try await take.end()
        #expect(isHeard(outcome))
        #expect(outcome.account.sentBytes == 32_000)
        return outcome
    }

    @Test func aSourceThatTakesLongToOpenHoldsUpNoOtherTake() async throws {
        let source = SlowSource(Self.samples)
        let slow = try bench.start(source, to: server.url())
        #expect(await source.isOpening.wait())
        for _ in 0..<3 {
            _ = try await endWhole(bench.replay(Self.samples, to: server.url()))
        }
        #expect(!source.mayOpen.isOpen)
        source.mayOpen.open()
        _ = try await endWhole(slow)
    }

    @Test func aTakeIsCancelledWhileItsSourceOpens() async throws {
        let source = SlowSource(Self.samples)
        let take = try bench.start(source, to: server.url())
        #expect(await source.isOpening.wait())
        take.cancel()
        let outcome = try await take.end()
        #expect(outcome.result == .failure(.cancelled))
        // Not by two threads at once.
        #expect(!source.mayOpen.isOpen && !source.isClosed.isOpen)
        source.mayOpen.open()
        #expect(await source.isClosed.wait())
    }

    @Test func aMicrophoneWhoseDriverHangsHoldsUpNoOtherTake() async throws {
        let source = SlowSource(Self.samples, hangsInRead: true)
        let hanging = try bench.start(source, to: server.url())
        #expect(await source.isOpening.wait())
        source.mayOpen.open()
        #expect(await source.isReading.wait())
        _ = try await endWhole(bench.replay(Self.samples, to: server.url()))
        // Cancelled, or the driver has been given up by now.
        hanging.cancel()
        await #expect(throws: TakeFailure.self) { try await hanging.end().result.get() }
        #expect(!source.isClosed.isOpen)
        source.mayRead.open()
        #expect(await source.isClosed.wait())
    }

    @Test(.enabled(if: geteuid() == 0, "tracing a process takes root"))
    func aProgramThatCannotBeReapedHoldsUpNoOtherTake() async throws {
        let sound = try bench.folder.write(WAVBytes.speech(Self.samples), to: "sound.wav")
        let number = bench.folder.path("number")
        let script =
            "#!/bin/sh\necho $$ >'\(number)'\n/bin/cat '\(sound)'\nexec /bin/sleep 1000\n"
        let program = try bench.folder.writeProgram(script, to: "ffmpeg")
        let path = try bench.folder.write(Array("ID3\u{4}".utf8), to: "a.mp3")
        let converter = Converter(path: program) { [] }
        let take = try bench.start(
            FileReplay(path: path, pace: .unpaced, converter: converter), to: server.url())
        _ = try #require(await server.wait(untilBytes: 16_000))
        let text = String(decoding: try bench.folder.read("number").dropLast(), as: UTF8.self)
        let process = try #require(pid_t(text))
        let held = try await HeldProcess(process)
        defer { held.release() }
        take.cancel()
        let other = try bench.replay(Self.samples, to: server.url())
        _ = try #require(await server.wait(untilBytes: 32_000, ofRequest: 1))
        #expect(kill(process, 0) == 0)
        held.release()
        #expect(try await take.end().result == .failure(.cancelled))
        _ = try await endWhole(other)
        #expect(await comesTrue { kill(process, 0) == -1 })
    }

    @Test(
        .enabled(if: HangingFile.isPossible, "watching a file takes root"),
        arguments: [false, true])
    func aMicrophoneIsOpenedAndHeardBeforeTheDiskIsLookedAt(_ wantsSecret: Bool) async throws {
        // Where tokens and services are noted that want a length, and how full the spool is.
        for (number, note) in [TakeStore.Note.lengthOrigins, .audio].map(\.rawValue).enumerated() {
            let bench = try Bench(secrets: { _ in "sesame" })
            try #require(mkdir(bench.folder.path("state"), 0o700) == 0)
            let file = try bench.folder.write(Array("0\n".utf8), to: "state/\(note)")
            let hanging = try await HangingFile(file)
            // The first of its process: nothing of the disk is known yet.
            let (speaker, take, _) = try bench.speak(to: server.url()) { plan in
                guard wantsSecret else { return }
                plan.delivery.service.add(Credential(askedOf: .file("/run/key")))
            }
            speaker.say(Array(Self.samples[..<320]))
            let heard = await server.wait(untilBytes: 640, ofRequest: number)
            #expect(heard != nil, "\(note)")
            hanging.release()
            speaker.say(Array(Self.samples[320..<16_000]))
            speaker.fallSilent()
            var events: [String] = []
            for await event in take.events {
                switch event {
                case .began: events.append("began")
                case .noticed(.slowDisk): events.append("slow")
                default: break
                }
            }
            #expect(events.first == "began")
            // Services that want a length are looked up beside the folder where a secret is asked for.
            if !wantsSecret || number == 1 { #expect(events == ["began", "slow"], "\(note)") }
            let outcome = try await endWhole(take)
            #expect(outcome.unprotected == nil && outcome.capture.gaps.isEmpty)
        }
    }

    @Test func aKeyThatCannotBeHadIsAskedForOnceByEachTake() async throws {
        let asked = Atomic(0)
        let bench = try Bench(key: {
            asked.add(1, ordering: .relaxed)
            throw CancellationError()
        })
        for number in 1...2 {
            let outcome = try await bench.replay(Self.samples, to: server.url()).end()
            #expect(isHeard(outcome) && outcome.audioPath == nil)
            #expect(outcome.unprotected?.contains("key that encrypts takes") == true)
            #expect(try bench.spool.shortage == nil)
            #expect(asked.load(ordering: .relaxed) == number)
        }
        bench.pipeline.sweep()
        bench.pipeline.shutDown()
        #expect(asked.load(ordering: .relaxed) == 2)
        #expect(try bench.folder.names() == ["1.wav", "2.wav"])
    }

    @Test func aTakeIsNamedBehindThoseOnTheDiskWhenTheClockHasGoneBack() async throws {
        let future = try #require(TakeID("29990101-120000-abcdefghjkmn"))
        _ = try TakeStore(stateFolder: bench.folder.path("state")).makeTake(future)
        let take = try bench.replay(Self.samples, to: server.url())
        let outcome = try await take.end()
        #expect(outcome.id.text > future.text && outcome.id == take.id)
    }

    @Test func aLongTakeSaysThatItFillsTheSpool() async throws {
        let limits = SpoolLimits(takes: 10, bytes: 4_000_000, free: 0)
        let bench = try Bench(limits: limits)
        let (speaker, take, _) = try bench.speak(to: server.url())
        for _ in 0..<180 { speaker.say(Array(Self.samples[..<16_000])) }
        var notices: [TakeNotice] = []
        for await event in take.events {
            guard case .noticed(let notice) = event else { continue }
            // That the disk of a busy machine is slow is said, too.
            if case .slowDisk = notice { continue }
            notices.append(notice)
            if case .spoolNearlyFull = notice { speaker.fallSilent() }
        }
        let outcome = try await take.end()
        #expect(isHeard(outcome) && outcome.unprotected == nil)
        #expect(
            notices == [
                .spoolNearlyFull(reason: "takes fill nearly 4000000 bytes, which is the limit")
            ])
    }

    @Test(.enabled(if: HangingFile.isPossible, "watching a file takes root"))
    func aStateFolderThatHangsHoldsUpNoOtherTake() async throws {
        // Is read before each take: it says how full the spool is.
        try #require(mkdir(bench.folder.path("state"), 0o700) == 0)
        let note = TakeStore.Note.audio.rawValue
        let size = try bench.folder.write(Array("0\n".utf8), to: "state/\(note)")
        let spoken = try (0..<2).map { _ in try bench.speak(to: server.url()) }
        for (speaker, _, _) in spoken { speaker.say(Array(Self.samples[..<320])) }
        _ = try #require(await server.waitForRequest(1))
        _ = try #require(await server.wait(untilBytes: 640))

        let hanging = try await HangingFile(size)
        let late = try bench.replay(Self.samples, to: server.url())
        try #require(await hanging.isBlocking())
        // The disk keeps the new take waiting; the others record, are sealed and answered.
        for (speaker, _, _) in spoken {
            speaker.say(Array(Self.samples[320..<16_000]))
            speaker.fallSilent()
        }
        for (_, take, _) in spoken { #expect(try await endWhole(take).unprotected == nil) }
        #expect(server.requests.count == 2)
        hanging.release()
        _ = try await endWhole(late)
    }
}

/// A source that opens when a test says so; or a microphone that is read when one says so.
private final class SlowSource: CaptureSource, Sendable {
    let name = "slow"
    let isLive: Bool
    let (isOpening, mayOpen, isClosed) = (Gate(), Gate(), Gate())
    let (isReading, mayRead) = (Gate(), Gate())
    private let left: Mutex<ArraySlice<Int16>>

    init(_ samples: [Int16], hangsInRead: Bool = false) {
        left = Mutex(samples[...])
        isLive = hangsInRead
    }

    func open() throws(CaptureError) -> StreamFormat {
        isOpening.open()
        _ = mayOpen.waitBlocking()
        return .speech
    }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        if isLive {
            isReading.open()
            _ = mayRead.waitBlocking()
        }
        let next = left.withLock { left in
            defer { left = left.dropFirst(frames.count) }
            return left.prefix(frames.count)
        }
        let count = next.count
        for (index, sample) in next.enumerated() { frames[index] = sample }
        return count > 0 ? .frames(count) : .end
    }

    func addDescriptors(to events: inout PolledDescriptors) {}
    func requestStop() { left.withLock { $0 = [] } }
    func close() { isClosed.open() }
}
