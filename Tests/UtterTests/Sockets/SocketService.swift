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
        let address = url(profile + (asked.isEmpty ? "" : "?\(asked)"), through: port)
        let own = "way = 'live'\nurl = '\(address)'\nauth.optional = true\n\(lines)"
        let texts = try Profiles.shipped.profile(profile).texts
        return try Bench.plan(
            by: [ProfileText(overriding: own, place: "-c")] + texts, retry: retry)
    }
}
