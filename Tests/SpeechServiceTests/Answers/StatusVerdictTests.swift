// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite("StatusVerdict")
struct StatusVerdictTests {
    @Test func everyStatusHasItsVerdict() {
        let special: [Int: StatusVerdict] = [
            307: .redirect, 308: .redirect, 401: .tokenRefused, 403: .tokenRefused, 408: .retryable,
            425: .retryable, 429: .retryable, 501: .refused, 505: .refused,
        ]
        for status in -1...1000 {
            let byClass: StatusVerdict =
                switch status {
                case 200..<300: .accepted
                case 300..<500: .refused
                case 500..<600: .retryable
                default: .unusable
                }
            #expect(StatusVerdict.of(status: status) == special[status] ?? byClass, "\(status)")
        }
    }
}
