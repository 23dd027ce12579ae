// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// What libcurl refuses of a request ends that transfer, and says what it was.
@Suite struct TransferSetupTests {
    /// One more than libcurl takes (`CURL_MAX_INPUT_LENGTH`).
    private static let tooLong = String(repeating: "a", count: 8_000_001)

    @Test(arguments: ["CURLOPT_URL", "CURLOPT_CAINFO", "CURLOPT_MAXAGE_CONN"])
    func anOptionThatIsRefusedEndsTheTransfer(_ option: String) async throws {
        let server = try RecordingServer()
        let loop = try TransferLoop()
        defer { loop.shutDown() }
        let upload = try Upload(to: server.url(), bytes(640), isSealed: true, on: loop) {
            switch option {
            case "CURLOPT_URL": $0.url += Self.tooLong
            case "CURLOPT_CAINFO": $0.connection.certificateFile = "/" + Self.tooLong
            default: $0.longestIdleTime = .seconds(-2)
            }
        }
        let reason = try #require(await upload.result()).reason { .unprepared($0) }
        #expect(reason.contains(option))
        #expect(server.connectionCount == 0)
        // Others are sent all the same.
        let other = try Upload(to: server.url(), bytes(640), isSealed: true, on: loop)
        #expect(try #require(await other.result()).ending == .answered)
    }
}
