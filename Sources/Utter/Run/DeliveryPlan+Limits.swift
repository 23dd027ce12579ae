// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import Capture
internal import SpeechService

extension Duration {
    /// For a person, with at most two decimals.
    package var secondsText: String {
        let hundredths = Int((self / .milliseconds(10)).rounded(.up))
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        if rest == 0 { return "\(whole) s" }
        return rest % 10 == 0
            ? "\(whole).\(rest / 10) s" : "\(whole).\(rest < 10 ? "0" : "")\(rest) s"
    }
}

extension DeliveryPlan {
    static let limitWarning = Duration.seconds(10)

    /// In this form; nil for any length.
    var longest: Duration? {
        let limits = service.limits
        var frames = limits.longest.map { StreamFormat.speech.frames(in: $0) } ?? .max
        // How many bytes another form takes is known when it is complete.
        if let byteCount = limits.byteCount, format == .pcm || format == .wav {
            let header = format == .wav ? 64 : 0
            frames = min(frames, max(0, byteCount - header) / 2)
        }
        return frames == .max ? nil : StreamFormat.speech.duration(ofFrames: frames)
    }

    /// Why the service does not take a recording of `frames` at 16 kHz and a file of `byteCount`; nil
    /// when it does.
    func limitFailure(frames: Int, byteCount: Int) -> TakeFailure? {
        let (limits, length) = (service.limits, StreamFormat.speech.duration(ofFrames: frames))
        let bytes = byteCount - format.bodyOffset
        if !cutsStretches, let longest = limits.longest, length > longest {
            return .outsideLimits(
                reason: "it is \(length.secondsText) long, and the service takes "
                    + "\(longest.secondsText) at most")
        }
        if let shortest = limits.shortest, length < shortest, frames > 0 {
            return .outsideLimits(
                reason: "it is \(length.secondsText) long, and the service wants "
                    + "\(shortest.secondsText) at least")
        }
        if !cutsStretches, let most = limits.byteCount, bytes > most {
            return .outsideLimits(
                reason: "it has \(bytes) bytes, and the service takes \(most) at most")
        }
        return nil
    }
}

extension TakePlan {
    /// The length at which the service's limit ends the recording of a voice; nil without one.
    ///
    /// Sound from a file stays whole, and is refused or cut.
    func serviceLimit(of source: any CaptureSource) -> Duration? {
        guard source.isLive, !delivery.cutsStretches, let longest = delivery.longest else {
            return nil
        }
        let own = capture.longestFrames ?? .max
        return StreamFormat.speech.frames(in: longest) < own ? longest : nil
    }
}

extension CapturePlan {
    func limited(to limit: Duration?) -> CapturePlan {
        var plan = self
        if let limit { plan.longestFrames = StreamFormat.speech.frames(in: limit) }
        return plan
    }
}
