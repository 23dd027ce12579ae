// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter
@testable import UtterCommands

/// What `utter send` makes of each kind of answer: status, message, hint, and what is kept.
@Suite struct DeliveryTests {
    @Test func aTranscriptIsPrintedAndTheAudioLeavesTheDisk() async throws {
        let bench = try Bench(server: .hearing("go forward ten meters"))
        let result = try await bench.run("send", Clip.goForward.path)

        #expect(result.status == .exited(0))
        #expect(result.outputText == "go forward ten meters\n")
        #expect(result.errorText == "utter: sending \(Clip.goForward.path), 16000 Hz mono\n")
        #expect(bench.requests.first?.body == (try Clip.goForward.samples))
        let take = try #require(try bench.onlyTake())
        #expect(take.names == ["take.json"])
        #expect(try take.manifest["state"] == .string("answered"))
        #expect(try take.manifest["transcript"] == .string("go forward ten meters"))
    }

    @Test func anEmptyTranscriptIsStatusOneAndPrintsNothing() async throws {
        let bench = try Bench(server: .hearing(#"{"text": ""}"#))
        let result = try await bench.run("send", Clip.digits.path)

        #expect(result.status == .exited(1))
        #expect(result.output.isEmpty)
        #expect(result.errorText.contains("utter: heard nothing; the peak level was -"))
        // Nothing was understood, and so nothing is deleted.
        let take = try #require(try bench.onlyTake())
        #expect(result.errorText.contains("utter: kept: \(take.path)/audio.wav (0:02.4)\n"))
        #expect(try take.samples == Clip.digits.samples)
        #expect(try take.manifest["state"] == .string("kept"))
        #expect(try take.manifest["reason"] == .string("heard nothing"))
        // Not by itself, which would be the same again; and not lost by asking once more.
        #expect(try await bench.run("flush").output.isEmpty)
        #expect(bench.requests.count == 1)
        #expect(try await bench.run("retry", "last").status == .exited(1))
        #expect(bench.requests.count == 2)
        #expect(try bench.onlyTake()?.samples == Clip.digits.samples)
    }

    /// The library's tests say which answer is which failure, and in which words.
    @Test(
        arguments: [
            (.refused(status: 404, message: nil), 69), (.responseUnusable(reason: "odd"), 76),
            (.answerUnusable(.empty), 76), (.answerUnusable(.truncated(byteCount: 9)), 76),
            (.redirectRefused(location: "https://b.example", reason: "another origin"), 69),
            (.refused(status: 403, message: "not in your region", advice: .forbidden), 69),
            (.refused(status: 411, message: nil, advice: .lengthSent), 69),
            (.outsideLimits(reason: "long"), 69), (.secretMissing(reason: "none"), 78),
            (.proxyRefused(status: 407), 77), (.proxyRefused(status: 403), 69),
            (.unavailable(status: 503, message: nil), 75),
            (.notDelivered(.connectionLost("reset"), host: "https://a.example"), 75),
            (.notDelivered(.timedOut(.answer), host: "https://a.example"), 75),
            (.insecure(reason: "self-signed", host: "a.example"), 77),
        ] as [(TakeFailure, Int32)])
    func eachFailureHasItsStatus(_ failure: TakeFailure, _ status: Int32) {
        #expect(failure.status.rawValue == status)
    }

    @Test func aTakeWithoutATranscriptIsKeptAndTheReasonSaid() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 401, text: "who are you?"))
        let bench = try Bench(server: server)
        let result = try await bench.run("send", "-c", "retry.never=true", Clip.goForward.path)

        #expect(result.status == .exited(77))
        #expect(result.output.isEmpty)
        #expect(result.hasPlainErrors)
        let take = try #require(try bench.onlyTake())
        let reason = "the service wants a token, and none was given: 401: who are you?"
        let errors = result.errorText.split(separator: "\n").map(String.init)
        for line in [
            "error: \(reason)",
            "hint: give it with UTTER_TOKEN, --token-file or --token-command; -c auth.header says "
                + "where it stands",
            "kept: \(take.path)/audio.wav (0:02.7)",
            "hint: send it again with: utter retry \(take.id.asInHints)",
        ] { #expect(errors.contains("utter: \(line)"), "\(result.errorText)") }
        #expect(try take.samples == Clip.goForward.samples)
        #expect(try take.manifest["state"] == .string("kept"))
        #expect(try take.manifest["reason"] == .string(reason))
    }

    @Test func noProxyIsAskedForThisMachinesOwnServices() async throws {
        let proxies = ["http_proxy": "http://127.0.0.1:9/", "all_proxy": "http://127.0.0.1:9/"]
        let bench = try Bench(server: .hearing("direct"), proxies)
        let result = try await bench.run("send", "-c", "retry.never=true", Clip.goForward.path)
        #expect(result.outputText == "direct\n")
    }

    @Test(arguments: [
        ("http_proxy", "foo://bar", "the proxy's URL has a scheme that is not known"),
        ("all_proxy", "http://me:s3cret@[::", "the proxy's URL is none"),
        ("ALL_PROXY", "http://127.0.0.1:9", "127.0.0.1 port 9: Connection refused"),
    ])
    func theVariableIsNamedWhoseProxyIsWrong(
        _ variable: String, _ value: String, _ reason: String
    ) async throws {
        let bench = try Bench([variable: value])
        let result = try await bench.run(
            "send", "-c", "retry.never=true", "--to", "http://speech.invalid/", Clip.goForward.path)
        #expect(result.status == .exited(75))
        #expect(
            result.errorText.contains("cannot connect to http://speech.invalid: \(reason)\n"),
            "\(result.errorText)")
        #expect(
            result.errorText.contains(
                "utter: hint: check the proxy, which \(variable) names, such as "
                    + "http://proxy.example:3128; -c connection.proxy=none goes without it\n"))
        #expect(!result.errorText.contains("s3cret"))
        #expect(try bench.onlyTake()?.samples == Clip.goForward.samples)
    }

    @Test func aStoreThatFindsTheClockWrongIsAskedByItsOwnAndSaysSo() async throws {
        let skewed = "<Error><Code>RequestTimeTooSkewed</Code><Message>off</Message></Error>"
        let server = try RecordingServer(otherwise: [
            .readHead, .readBodyToEnd,
            .respondBy { _ in
                ServerAnswer(
                    status: 403,
                    headers: [
                        HeaderField("Content-Type", "application/xml"),
                        HeaderField("Date", "Sat, 01 Jan 2000 00:00:00 GMT"),
                    ], text: skewed)
            },
        ])
        let keys = ["AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "sesame"]
        let bench = try Bench(keys)
        try bench.writeProfile("extends = 's3'\nurl = '\(server.url())voices/{key}'\n", to: "there")
        let result = try await bench.run(
            "send", "-q", "-c", "retry.never=true", "--service", "there", "--to",
            "s3://voices/a.wav",
            Clip.goForward.path)
        #expect(result.status == .exited(75))
        #expect(
            result.errorText.contains(
                "utter: error: the service cannot answer now: 403: the clock of this machine and the "
                    + "service's differ\nutter: hint: set the clock of this machine, then send it "),
            "\(result.errorText)")
        let dates = server.requests.map { $0["X-Amz-Date"]?.prefix(4) }
        #expect(dates.count == 2 && dates.last == "2000")
    }
}
