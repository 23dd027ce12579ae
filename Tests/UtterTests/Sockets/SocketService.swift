// SPDX-License-Identifier: Apache-2.0

import TestSupport

@testable import SpeechService
@testable import Utter

extension SocketService {
    /// A program for many tests, which find their sessions by a mark in the path.
    static let running = Task { try await SocketService() }

    /// The sessions whose path has a mark and which have ended, once there are so many.
    func sessions(_ count: Int, of mark: String) async throws -> [Session] {
        var all = try await sessions(count)
        while true {
            let own = all.filter { $0.path.contains(mark) }
            let next = all.count + 1
            guard own.count < count else { return own }
            all = try await sessions(next)
            // A session that does not come in time is said there.
            guard all.count >= next else { return own }
        }
    }

    /// Where a take goes by the live way of a shipped profile; `asked` says what goes wrong there, `lines`
    /// are over those of the profile.
    func plan(
        _ profile: String, _ asked: String = "", over lines: String = "",
        through port: UInt16? = nil, retry: RetryPolicy = .never
    ) throws -> DeliveryPlan {
        // The double knows each dialect by one word.
        let dialects = ["deepgram-flux": "flux", "vosk-server": "vosk", "vllm-realtime": "vllm"]
        let address = url(
            (dialects[profile] ?? profile) + (asked.isEmpty ? "" : "?\(asked)"), through: port)
        let shipped = try Profiles.shipped.profile(profile)
        let way = shipped.hasLiveWay ? "way = 'live'\n" : ""
        let own = "\(way)url = '\(address)'\nauth.optional = true\n\(lines)"
        let texts = shipped.texts
        return try Bench.plan(
            by: [ProfileText(overriding: own, place: "-c")] + texts,
            words: profile == "vllm-realtime" ? ["model": "voxtral"] : [:], retry: retry)
    }
}
