// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Utter
internal import UtterSettings

/// Half a second from the microphone, sent to the service: whether both work.
struct SetupTrial {
    struct Report {
        var lines: [String] = []
        var isGood = true
    }

    /// Below this the microphone is as good as silent.
    fileprivate static let silence: Float = -70

    private static let length = Duration.milliseconds(500)

    let answers: SetupAnswers

    /// Writes nothing to the disk; without a microphone, silence is sent.
    func run() async throws(CommandFailure) -> Report {
        var report = Report()
        let device = answers.device ?? "default"
        var outcome = try await take(DeviceHost.microphone(device))
        // A service may refuse sooner than the microphone does.
        if case .source(let error) = outcome.capture.cause {
            report.say(error.description, error.hint)
            outcome = try await take(SampleSource.silence(Self.length))
        } else {
            report.tellLevel(outcome.peakDecibels, device)
        }
        report.tellAnswer(outcome)
        return report
    }

    private func take(
        _ source: @autoclosure @escaping @Sendable () -> any CaptureSource
    ) async throws(CommandFailure) -> TakeOutcome {
        try Configuration.use(answers.text())
        let options = try orFailure { try ServiceOptions.parse([]) }
        let plan = TakePlan(
            source: source(), capture: CapturePlan(tail: Tail(usual: .zero), longest: Self.length),
            delivery: try options.delivery(
                format: KnownSettings.format.value(), isSpoken: true))
        // A token that was typed is on no disk yet.
        let typed: String? = if case .typed(let token) = answers.token { token } else { nil }
        return try await plan.outcomeOfTrial(typed: typed)
    }
}

extension SetupTrial.Report {
    fileprivate mutating func say(_ problem: String, _ hint: String?) {
        isGood = false
        lines.append("✗ \(problem)")
        if let hint { lines.append("  \(hint)") }
    }

    fileprivate mutating func tellLevel(_ decibels: Float?, _ device: String) {
        guard let decibels, decibels > SetupTrial.silence else {
            return say(
                "the microphone '\(device)' is silent",
                "check that it is not muted, or choose another")
        }
        lines.append("✓ the microphone '\(device)' is heard: \(Int(decibels.rounded())) dB")
    }

    fileprivate mutating func tellAnswer(_ outcome: TakeOutcome) {
        let url = outcome.attempts.last?.url ?? ""
        switch outcome.result {
        case .success(let transcript):
            let text = transcript.displayText
            lines.append(
                "✓ \(url) answers" + (text.isEmpty ? ", and heard no words" : ": \(text)"))
        case .failure(let failure): say(failure.description, failure.hint)
        }
    }
}
