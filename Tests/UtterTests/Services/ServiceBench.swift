// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import SpeechService
@testable import TakeStore
@testable import Utter

/// Takes of recorded voices for a service that lines of a profile describe.
extension Bench {
    private static func said(_ lines: String) -> [ProfileText] {
        lines.isEmpty ? [] : [ProfileText(overriding: lines, place: "-c")]
    }

    /// Answers with what a variable holds: "sesame", unless another is given.
    static func sesame(beside variables: [String: String]) -> SecretProvider {
        { question in
            guard case .variable(let name) = question.source else { return "sesame" }
            return variables[name] ?? "sesame"
        }
    }

    /// How a take goes to a service, with the secrets that its profile names.
    static func plan(
        by texts: [ProfileText], words: [String: String] = [:], format: AudioCodec? = nil,
        retry: RetryPolicy = .never
    ) throws -> DeliveryPlan {
        var plan = try DeliveryPlan(
            ProfileUse(ServiceProfile(texts: texts), words: words, codec: format))
        plan.retry = retry
        try plan.addSecrets()
        return plan
    }

    /// The same of lines of a profile, over which others are said.
    static func plan(
        by profile: String, over lines: String = "", words: [String: String] = [:],
        format: AudioCodec? = nil, retry: RetryPolicy = .never
    ) throws -> DeliveryPlan {
        let texts = said(lines) + [ProfileText(name: "mine", text: profile)]
        return try plan(by: texts, words: words, format: format, retry: retry)
    }

    func send(_ clip: Clip = .digits, by plan: DeliveryPlan) async throws -> TakeOutcome {
        var plan = TakePlan(
            source: FileReplay(path: clip.path, pace: .unpaced), delivery: plan)
        plan.isCompleteSoon = true
        return try await pipeline.start(plan).end()
    }

    func send(
        _ clip: Clip = .digits, by profile: String, over lines: String = "",
        words: [String: String] = [:], format: AudioCodec? = nil, retry: RetryPolicy = .never
    ) async throws -> TakeOutcome {
        try await send(
            clip,
            by: Self.plan(by: profile, over: lines, words: words, format: format, retry: retry))
    }

    /// Sends a kept take once more, as it remembers it and is said now.
    func retry(
        _ take: TakeOutcome, over lines: String = "", words: [String: String] = [:],
        format: AudioCodec? = nil
    ) async throws -> TakeOutcome {
        let record = try #require(try await kept(take).manifest.get().delivery)
        var plan = try DeliveryPlan(
            record, overriding: Self.said(lines), words: words, codec: format)
        plan.retry = .never
        try plan.addSecrets(remembered: record.secrets ?? [])
        return try await resend(take, by: plan)
    }

    func resend(_ take: TakeOutcome, by plan: DeliveryPlan) async throws -> TakeOutcome {
        try await pipeline.resend(kept(take), by: plan).end()
    }

    /// A take as it lies on the disk, once the disk has everything.
    func kept(_ take: TakeOutcome) async throws -> KeptTake {
        await pipeline.settled()
        return try spool.take(take.id.text)
    }

    /// The whole text of a take's file.
    func manifestText(_ take: TakeOutcome) async throws -> String {
        let manifest = try await kept(take).manifest.get()
        return String(decoding: try manifest.encoded(), as: UTF8.self)
    }
}

extension TakeOutcome {
    /// The transcript, or in a word why there is none.
    var text: String {
        switch result {
        case .success(let words): words.text
        case .failure(let failure): failure.description
        }
    }
}

extension [ServerStep] {
    /// Reads the whole request, then answers in JSON.
    static func json(_ text: String) -> [ServerStep] {
        .answer(
            headers: [TestSupport.HeaderField("Content-Type", "application/json")], text: text)
    }
}
