// SPDX-License-Identifier: Apache-2.0

import Testing
import Utter

@Suite struct TakeFailureTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let failure: TakeFailure
        let description: String
        let hint: String?
        var testDescription: String { description }

        init(_ failure: TakeFailure, _ description: String, hint: String? = nil) {
            self.failure = failure
            self.description = description
            self.hint = hint
        }
    }

    private static let host = "https://speech.example"

    static let rows: [Row] = [
        Row(
            .capture(.deviceNotFound(device: "hw:9")), "no capture device named 'hw:9'",
            hint: "run 'utter devices' and pass one of those names with --device"),
        Row(
            .encoding(.codecFailed(operation: "opus", reason: "no memory")),
            "encoding failed: opus: no memory"),
        Row(
            .journal(reason: "write: No space left on device"),
            "the recording cannot be stored: write: No space left on device"),
        Row(
            .notDelivered(.cannotResolve("no such host"), host: host),
            "cannot find \(host): no such host", hint: "check the URL and the network"),
        Row(
            .notDelivered(.cannotConnect("refused"), host: host),
            "cannot connect to \(host): refused", hint: "check the URL and the network"),
        Row(
            .notDelivered(.connectionLost("reset"), host: host),
            "the connection to \(host) was lost: reset"),
        Row(
            .notDelivered(.timedOut(.connect), host: host),
            "\(host) did not accept a connection in time"),
        Row(
            .notDelivered(.timedOut(.stall), host: host), "\(host) stopped taking the recording"),
        Row(
            .notDelivered(.timedOut(.answer), host: host),
            "\(host) took the recording and did not answer in time"),
        Row(
            .notDelivered(.timedOut(.whole), host: host),
            "the transfer to \(host) took longer than allowed"),
        Row(
            .notDelivered(.journalUnreadable("read: I/O error"), host: host),
            "the recording cannot be read back: read: I/O error"),
        Row(
            .insecure(reason: "self-signed certificate", host: "speech.example"),
            "speech.example is not trusted: self-signed certificate",
            hint: "check the URL and the clock, or name the authority with --cacert"),
        Row(
            .refused(status: 400, message: "no such language"),
            "the service refused the recording: 400: no such language"),
        Row(
            .refused(status: 404, message: nil), "the service refused the recording: 404",
            hint: "check the URL's path"),
        Row(
            .refused(status: 405, message: nil, advice: .otherMethod(allowed: "GET")),
            "the service refused the recording: 405",
            hint: "the URL takes GET, and utter sends POST or PUT: check its path"),
        Row(
            .refused(status: 302, message: "302 Found", advice: .elsewhere(location: "/login")),
            "the service refused the recording: 302: Found; it points to /login",
            hint: "if that is right, send it there with --to /login"),
        Row(
            .refused(status: 411, message: "411", advice: .length),
            "the service refused the recording: 411",
            hint:
                "the service wants the length of the recording: --framing auto or length "
                + "sends it"),
        Row(
            .notTLS(reason: "error:0A00010B:SSL routines::wrong version number", host: host),
            "\(host) does not speak TLS on this port",
            hint: "write http:// if the service speaks no TLS, or name its other port"),
        Row(
            .refused(status: 413, message: nil), "the service refused the recording: 413",
            hint: "send it smaller with --format ogg-opus, or less at a time"),
        Row(
            .refused(status: 415, message: nil), "the service refused the recording: 415",
            hint:
                "send it in another form with --format wav or ogg-opus, or name it with "
                + "--content-type"),
        Row(
            .tokenRefused(status: 401, message: "expired"),
            "the service did not accept the token: 401: expired",
            hint:
                "check the token: UTTER_TOKEN, --token-file or --token-command, and --token-header"),
        Row(
            .unavailable(status: 503, message: nil), "the service cannot answer now: 503"),
        Row(
            .redirectRefused(location: "http://evil", reason: "why"),
            "the service points to http://evil, which was not followed: why",
            hint: "allow it by name with --redirect-to ORIGIN, or correct the URL"),
        Row(
            .answerUnusable(.empty), "the service accepted the recording and answered nothing",
            hint:
                "check that the URL is one of a speech-recognition service, a"
                + "nd not one that stores files"),
        Row(
            .responseUnusable(reason: "its status is 999"),
            "the answer cannot be used: its status is 999"),
        Row(.cancelled, "cancelled"),
        Row(.left, "ended by a signal before the answer came"),
    ]

    @Test(arguments: rows) func everyFailureSaysWhatWhyAndWhatToDo(_ row: Row) {
        #expect(row.failure.description == row.description)
        #expect(row.failure.hint == row.hint)
        #expect(!row.description.hasSuffix("."))
        #expect(!row.description.contains("\n"))
    }
}
