// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import TakeStore
@testable import Utter

/// A spool of the test's own, and the takes that earlier programs have left in it.
final class SpoolBench: Sendable {
    let folder: TemporaryFolder
    let spool: Spool
    private let pipelines = Mutex<[Pipeline]>([])

    init(limits: SpoolLimits = SpoolLimits(takes: 1_000, bytes: 4 << 30, free: 0)) throws {
        folder = try TemporaryFolder()
        spool = Spool(at: folder.path("state"), limits: limits)
    }

    deinit {
        for pipeline in pipelines.withLock({ $0 }) { pipeline.shutDown() }
    }

    static let samples = [Int16](repeating: 7, count: 1_000)

    func id(_ number: Int) throws -> TakeID {
        try #require(TakeID("20261121-0600\(10 + number)-abcdefghjk\(10 + number)"))
    }

    /// Leaves a take that waits and was meant for a URL.
    @discardableResult
    func keep(
        _ number: Int, for url: String = "http://127.0.0.1:9/", as name: TakeID? = nil,
        change: (inout TakeManifest) throws -> Void = { _ in }
    ) throws -> KeptTake {
        let store = try spool.store()
        let take = try store.makeTake(try name ?? id(number))
        // Said, because a child of another test may hold the descriptor until it executes.
        defer { take.unlock() }
        let audio = WAVBytes.speech(Self.samples)
        try folder.write(audio, to: "state/takes/\(take.id.text)/audio.wav")
        let plan = DeliveryPlan(service: try RecognitionService(url: ServiceURL(url)))
        var manifest = TakeManifest(
            id: take.id, created: take.id.date ?? Date(), audio: "audio.wav", format: "pcm",
            source: "default", url: url)
        manifest.delivery = plan.record
        manifest.byteCount = audio.count
        manifest.frames = Self.samples.count
        manifest.state = .kept
        try change(&manifest)
        try take.save(manifest)
        return KeptTake(take.id, in: store, by: SpoolAge(in: store))
    }

    /// The takes once they fulfil a condition, or after a time without it: a child of another test
    /// may hold a copy of a lock of this process for a moment.
    func takes(until isWanted: ([KeptTake]) -> Bool) async throws -> [KeptTake] {
        let deadline = MonotonicTime.now + .patience
        while true {
            let takes = try spool.takes()
            if isWanted(takes) || MonotonicTime.now >= deadline { return takes }
            await Task.yield()
        }
    }

    /// All samples of a take.
    func samples(of take: KeptTake) throws -> [Int16] {
        var samples = try spool.samples(of: take)
        var (all, some): ([Int16], [Int16]) = ([], [])
        while try samples.next(into: &some) { all += some }
        return all
    }

    /// A pipeline that ends with the bench.
    func pipeline(secrets: SecretProvider? = nil) throws -> Pipeline {
        let pipeline = try Pipeline(
            spool: Spool(
                at: folder.path("state"), limits: spool.rules.limits,
                retention: .withoutAnsweredAudio),
            secrets: secrets)
        pipelines.withLock { $0.append(pipeline) }
        return pipeline
    }
}

extension ResentTake {
    var text: String? {
        guard case .outcome(let outcome, _) = ending else { return nil }
        return try? outcome.result.get().text  // A failure has none.
    }

    var skipReason: String? { if case .skipped(let reason) = ending { reason } else { nil } }

    var failure: TakeFailure? {
        guard case .outcome(let outcome, _) = ending, case .failure(let failure) = outcome.result
        else { return nil }
        return failure
    }

    /// The ending in a word.
    var word: String {
        switch ending {
        case .outcome: text ?? failure?.description ?? ""
        case .elsewhere: "elsewhere"
        case .failed(let error): error.description
        case .skipped: "skipped"
        case .left: "left"
        }
    }
}

extension TakeStore {
    /// Recovers what there is, as soon as it is not locked: a child of another test holds a copy of
    /// each lock of this process until it has become its program.
    func recoverUnlocked() throws -> [TakeID] {
        let deadline = MonotonicTime.now + .patience
        while MonotonicTime.now < deadline {
            let recovered = try recoverAll()
            if !recovered.isEmpty { return recovered }
            sched_yield()
        }
        return []
    }
}

extension Retention {
    /// As usual, but the audio of an answered take goes at once.
    static var withoutAnsweredAudio: Retention {
        var retention = Retention.standard
        retention.audio = .zero
        return retention
    }
}
