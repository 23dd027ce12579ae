// SPDX-License-Identifier: Apache-2.0

import TestSupport

@testable import Utter

/// A pipeline, a short take and a service's ledger behind a proxy that harms connections.
final class FaultBench: Sendable {
    /// Short pauses: what is tested is their order, not their length.
    static let quick = RetryPolicy(
        pausesWhileSpeaking: [.milliseconds(10)],
        pausesAfterRelease: [.milliseconds(10), .milliseconds(20), .milliseconds(30)],
        longestRetryAfter: .seconds(30), unknownOutcome: .resend)

    private let bench: Bench
    var folder: TemporaryFolder { bench.folder }
    var pipeline: Pipeline { bench.pipeline }
    let ledger = TakeLedger()
    let server: RecordingServer
    /// The audio of every take.
    let samples: [UInt8]
    let noise: [Int16]
    private let path: String

    /// Prepares takes of `byteCount` bytes of PCM, which differ from place to place.
    init(byteCount: Int = 16_000) throws {
        bench = try Bench()
        server = try RecordingServer(otherwise: ledger.script)
        var random = SeededRandom(seed: 7)
        noise = random.noise(count: byteCount / 2)
        samples = WAVBytes.pcm(noise)
        path = try bench.folder.write(WAVBytes.speech(noise), to: "take.wav")
    }

    /// Where a take goes when it goes through `proxy`.
    func plan(
        _ proxy: FaultProxy, retry: RetryPolicy = quick,
        deadlines: TransferDeadlines = TransferDeadlines()
    ) throws -> DeliveryPlan {
        try plan(to: proxy.url(), retry: retry, deadlines: deadlines)
    }

    /// Where a take goes when it goes straight to `url`.
    func plan(
        to url: String, retry: RetryPolicy = quick,
        deadlines: TransferDeadlines = TransferDeadlines()
    ) throws -> DeliveryPlan {
        DeliveryPlan(
            service: try RecognitionService(url: ServiceURL(url)), deadlines: deadlines,
            retry: retry)
    }

    func source(pace: Pace) -> FileReplay { FileReplay(path: path, pace: pace) }

    /// Records a take and sends it while it is recorded.
    func start(_ plan: DeliveryPlan, pace: Pace = .unpaced) -> Take {
        pipeline.start(TakePlan(source: self.source(pace: pace), delivery: plan))
    }

    /// Records a take from a speaker who says all of it and does not fall silent.
    func start(_ plan: DeliveryPlan, from speaker: Speaker) -> Take {
        speaker.say(noise)
        return pipeline.start(TakePlan(source: speaker.source, delivery: plan))
    }

    func resend(_ outcome: TakeOutcome, by plan: DeliveryPlan) async throws -> TakeOutcome {
        try await bench.resend(outcome, by: plan)
    }

    /// Says why a take that should have arrived is not as it should be, or returns nil.
    ///
    /// The ledger has it, byte for byte, under its id; every commit is an attempt that was logged
    /// as whole; and the person is told of a resend exactly when there may have been one.
    func complaint(_ outcome: TakeOutcome, afterLostAnswers lost: Int? = nil) -> String? {
        guard case .success = outcome.result else { return "not answered: \(outcome.result)" }
        let entries = ledger.entries.filter { $0.id == "\"\(outcome.id.text)\"" }
        guard entries.count == 1, let entry = entries.first else {
            return "\(entries.count) different bodies were committed"
        }
        if entry.body != samples { return "\(entry.body.count) bytes arrived, not the journal's" }
        if entry.attempts.count != Set(entry.attempts).count {
            return "an attempt was committed twice: \(entry.attempts)"
        }
        let whole = outcome.attempts.indices.filter { outcome.attempts[$0].result.isBodyComplete }
            .map { "\($0 + 1)" }
        if !Set(entry.attempts).isSubset(of: whole) {
            return "committed \(entry.attempts), logged as whole \(whole)"
        }
        if entry.attempts.count > 1, !outcome.mayBeDoubled { return "sent twice, and not said" }
        if outcome.mayBeDoubled, whole.count < 2 { return "said to be sent twice, and was not" }
        if let lost, entry.attempts.count != lost + 1 {
            return "\(lost) answers were lost, and \(entry.attempts.count) bodies committed"
        }
        return nil
    }
}
