// SPDX-License-Identifier: Apache-2.0

import Cryptography
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import Utter

/// A pipeline of the test's own, and the folder of its takes.
final class Bench: Sendable {
    let pipeline: Pipeline
    let folder: TemporaryFolder

    init(
        stateFolder: String? = nil, limits: SpoolLimits = .standard,
        secrets: SecretProvider? = nil, key: (@Sendable () throws -> EncryptionKey)? = nil
    ) throws {
        folder = try TemporaryFolder()
        pipeline = try Pipeline(
            spool: Spool(
                at: stateFolder ?? folder.path("state"), key: key, limits: limits,
                retention: .withoutAnsweredAudio),
            secrets: secrets)
    }

    deinit { pipeline.shutDown() }

    /// Starts a take with one attempt unless told otherwise.
    func start(
        _ source: @autoclosure @escaping @Sendable () -> any CaptureSource, to url: String,
        format: AudioCodec = .pcm, retry: RetryPolicy = .never,
        change: (inout TakePlan) throws -> Void = { _ in }
    ) throws -> Take {
        var plan = TakePlan(
            source: source(),
            delivery: DeliveryPlan(
                service: try RecognitionService(url: ServiceURL(url)), format: format,
                retry: retry))
        try change(&plan)
        return pipeline.start(plan)
    }

    /// Starts a take that replays samples as fast as possible.
    func replay(
        _ samples: [Int16], to url: String, format: AudioCodec = .pcm,
        retry: RetryPolicy = .never, change: (inout TakePlan) throws -> Void = { _ in }
    ) throws -> Take {
        let number = replays.wrappingAdd(1, ordering: .relaxed).newValue
        let path = try folder.write(WAVBytes.speech(samples), to: "\(number).wav")
        return try start(
            FileReplay(path: path, pace: .unpaced), to: url, format: format, retry: retry,
            change: change)
    }

    private let replays = Atomic(0)

    /// Starts a take that replays samples by a plan of its own.
    func replay(_ samples: [Int16], by plan: DeliveryPlan) throws -> Take {
        try replay(samples, to: Self.nowhere) { $0.delivery = plan }
    }

    /// Starts a take of a speaker by a plan of its own.
    func speak(by plan: DeliveryPlan) throws -> (speaker: Speaker, take: Take, log: EventLog) {
        try speak(to: Self.nowhere) { $0.delivery = plan }
    }

    private static let nowhere = "http://127.0.0.1:9/"

    /// Starts a take of a speaker, who is there for as long as the bench is.
    func speak(
        to url: String, retry: RetryPolicy = .never,
        change: (inout TakePlan) throws -> Void = { _ in }
    ) throws -> (speaker: Speaker, take: Take, log: EventLog) {
        let speaker = try Speaker()
        speakers.withLock { $0.append(speaker) }
        let take = try start(speaker.source, to: url, retry: retry, change: change)
        return (speaker, take, EventLog(take))
    }

    private let speakers = Mutex<[Speaker]>([])

    /// Waits until the disk has everything that it was given.
    func flush() async -> Bool {
        let done = Gate()
        pipeline.sync.perform { done.open() }
        return await done.wait()
    }

    var spool: Spool {
        get throws { try #require(pipeline.spool) }
    }

    /// What the disk says of a take, once it has its folder and everything.
    func manifest(of take: Take) async throws -> TakeManifest {
        #expect(await wait(untilDiskSaysOf: take) { _ in true })
        #expect(await flush())
        return try spool.store().take(take.id).manifest()
    }

    /// Waits until the disk has the URL of a take's upload.
    func wait(untilUploadOf take: Take) async -> Bool {
        await wait(untilDiskSaysOf: take) { $0.progress?.values["upload"] != nil }
    }

    /// Waits until the disk has the whole recording of a take, and its length.
    func wait(untilSealOf take: Take) async -> Bool {
        await wait(untilDiskSaysOf: take) { $0.byteCount != nil }
    }

    /// The disk has no event for it.
    private func wait(
        untilDiskSaysOf take: Take, _ isSo: @escaping @Sendable (TakeManifest) -> Bool
    ) async -> Bool {
        await comesTrue { [self] in
            // The folder may be on its way.
            (try? spool.store().take(take.id).manifest()).map(isSo) == true
        }
    }

    /// The names of the files of a take, once the disk has everything.
    func files(of take: Take) async throws -> [String] {
        #expect(await flush())
        return try folder.names(in: "state/takes/\(take.id.text)")
    }
}

extension Take {
    /// Waits for the outcome, which is there in time.
    func end() async throws -> TakeOutcome {
        let found = Observed<TakeOutcome?>(nil)
        let waiting = Task { [self] in
            let outcome = await self.outcome
            found.update { $0 = outcome }
        }
        defer { waiting.cancel() }
        return try #require(await found.wait(within: .patience) { $0 })
    }
}

/// Writes down the events of a take.
final class EventLog: Sendable {
    struct Log: Sendable {
        var events: [TakeEvent] = []
        var hasEnded = false
    }

    let log = Observed(Log())

    init(_ take: Take) {
        let events = take.events
        let log = log
        Task {
            for await event in events { log.update { $0.events.append(event) } }
            log.update { $0.hasEnded = true }
        }
    }

    func wait(
        within limit: Duration = .patience, for isWanted: @escaping @Sendable (TakeEvent) -> Bool
    ) async -> Bool {
        await log.wait(within: limit) { $0.events.contains(where: isWanted) ? true : nil } ?? false
    }

    /// Waits until what was heard is so.
    func hears(_ isWanted: @escaping @Sendable (Transcript) -> Bool) async -> Bool {
        await wait { if case .heard(let words) = $0 { isWanted(words) } else { false } }
    }

    func wait(untilInterrupted count: Int) async -> Bool {
        await log.wait(within: .patience) { log in
            log.events.count { $0.isInterrupted } >= count ? true : nil
        } ?? false
    }

    func all() async throws -> [TakeEvent] {
        try #require(await log.wait(within: .patience) { $0.hasEnded ? $0.events : nil })
    }
}

extension TakeEvent {
    var isCaptured: Bool { if case .captured = self { true } else { false } }
    var isListening: Bool { if case .listening = self { true } else { false } }
    var isBegun: Bool { if case .began = self { true } else { false } }
    var isResumed: Bool { if case .resumed = self { true } else { false } }
    var isSent: Bool { if case .sent = self { true } else { false } }
    var signal: SignalState? { if case .signal(let state) = self { state } else { nil } }
    var isConnected: Bool { if case .connected = self { true } else { false } }
    var isRefused: Bool { if case .refused = self { true } else { false } }
    var isInterrupted: Bool { if case .interrupted = self { true } else { false } }
    var isHeard: Bool { if case .heard = self { true } else { false } }
    var isUnprotected: Bool { if case .noticed(.unprotected) = self { true } else { false } }
    /// The status of an answer that came too early, after which the take is sent with its length.
    var resentAfter: Int? {
        if case .answeredEarly(status: let status, _, isResent: true) = self { status } else { nil }
    }
    var resending: Int? { if case .resending(let attempt, _) = self { attempt } else { nil } }
}

/// A speaker whose every word is the test's: raw PCM through a pipe.
final class Speaker: Sendable {
    /// Used by one take.
    var source: any CaptureSource {
        FileReplay.samples(of: input, name: "the speaker", rawFormat: .speech, pace: .unpaced)
    }
    private let input: Int32
    private let output: Mutex<Int32>

    init() throws {
        let ends = try makePipe()
        input = ends.reading
        output = Mutex(ends.writing)
    }

    deinit {
        fallSilent()
        close(input)
    }

    /// Says samples; at most as many as a pipe holds.
    func say(_ samples: [Int16]) {
        let bytes = WAVBytes.pcm(samples)
        output.withLock { _ = write($0, bytes, bytes.count) }
    }

    func fallSilent() {
        output.withLock { output in
            if output >= 0 { close(output) }
            output = -1
        }
    }
}
