// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Utter

@Suite struct TakeFailureTests {
    private static let host = "https://speech.example"

    private static let rows: [(TakeFailure, String)] = [
        (.capture(.deviceNotFound(device: "hw:9")), "no capture device named 'hw:9'"),
        (
            .encoding(.codecFailed(operation: "opus", reason: "no memory")),
            "encoding failed: opus: no memory"
        ),
        (
            .journal(reason: "write: No space left on device"),
            "the recording cannot be stored: write: No space left on device"
        ),
        (
            .notDelivered(.cannotResolve("no such host"), host: host),
            "cannot find \(host): no such host"
        ),
        (
            .notDelivered(.cannotConnect("refused"), host: host),
            "cannot connect to \(host): refused"
        ),
        (
            .notDelivered(.connectionLost("reset"), host: host),
            "the connection to \(host) was lost: reset"
        ),
        (
            .notDelivered(.timedOut(.connect), host: host),
            "\(host) did not accept a connection in time"
        ),
        (.notDelivered(.timedOut(.stall), host: host), "\(host) stopped taking the recording"),
        (
            .notDelivered(.timedOut(.answer), host: host),
            "\(host) took the recording and did not answer in time"
        ),
        (
            .notDelivered(.timedOut(.whole), host: host),
            "the transfer to \(host) took longer than allowed"
        ),
        (
            .notDelivered(.journalUnreadable("read: I/O error"), host: host),
            "the recording cannot be read back: read: I/O error"
        ),
        (
            .insecure(reason: "self-signed certificate", host: "speech.example"),
            "speech.example is not trusted: self-signed certificate"
        ),
        (
            .refused(status: 400, message: "no such language"),
            "the service refused the recording: 400: no such language"
        ),
        (.refused(status: 404, message: nil), "the service refused the recording: 404"),
        (
            .refused(status: 405, message: nil, advice: .otherMethod(allowed: "GET")),
            "the service refused the recording: 405"
        ),
        (
            .refused(status: 302, message: "302 Found", advice: .elsewhere(location: "/login")),
            "the service refused the recording: 302: Found; it points to /login"
        ),
        (
            .refused(status: 411, message: "411", advice: .length),
            "the service refused the recording: 411"
        ),
        (
            .notTLS(reason: "error:0A00010B:SSL routines::wrong version number", host: host),
            "\(host) does not speak TLS on this port"
        ),
        (.refused(status: 413, message: nil), "the service refused the recording: 413"),
        (.refused(status: 415, message: nil), "the service refused the recording: 415"),
        (
            .tokenRefused(status: 401, message: "expired"),
            "the service did not accept the token: 401: expired"
        ),
        (.unavailable(status: 503, message: nil), "the service cannot answer now: 503"),
        (
            .redirectRefused(location: "http://evil", reason: "why"),
            "the service points to http://evil, which was not followed: why"
        ),
        (.answerUnusable(.empty), "the service accepted the recording and answered nothing"),
        (
            .responseUnusable(reason: "its status is 999"),
            "the answer cannot be used: its status is 999"
        ),
        (.cancelled, "cancelled"),
        (.left, "ended by a signal before the answer came"),
    ]

    @Test(arguments: rows)
    func everyFailureSaysWhatAndWhy(_ failure: TakeFailure, _ description: String) {
        #expect(failure.description == description)
        #expect(!description.hasSuffix("."))
        #expect(!description.contains("\n"))
    }
}
