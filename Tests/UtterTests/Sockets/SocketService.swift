// SPDX-License-Identifier: Apache-2.0

import TestSupport

@testable import SpeechService
@testable import Utter

extension SocketService {
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
