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

extension DeliveryPlan {
    /// Whether a recording that is too long is sent in stretches: where the answer to one request is the
    /// text of what it carries.
    var cutsStretches: Bool {
        guard case .post = service.exchange else { return false }
        return service.stretches.isEnabled && !service.detectsEnd && !hasOwnName
            && service.bodyKey == nil && service.method == .post
            && (service.limits.longest ?? Self.leastStretch) >= Self.leastStretch
            && (service.limits.byteCount ?? .max) >= Self.headerByteCount + format.nominalByteRate
    }

    /// A recording is not cut by a limit below this, or below its bytes: words would be broken off.
    private static let leastStretch = Duration.seconds(1)

    /// In frames: silence that lasts this long is not sent; nil: all is sent.
    var skippedSilence: Int? {
        cutsStretches ? service.stretches.skippedSilence.map(StreamFormat.speech.frames(in:)) : nil
    }

    /// More than the header of any form.
    private static let headerByteCount = 1_024

    var stretchLimit: StretchLimit {
        var limit = StretchLimit()
        guard cutsStretches else { return limit }
        if let longest = service.limits.longest {
            limit.frames = StreamFormat.speech.frames(in: longest)
        }
        guard let byteCount = service.limits.byteCount else { return limit }
        if format.isRaw {
            // Where a sample has its bytes, they say how long a stretch may be.
            limit.frames = min(limit.frames, max(1, (byteCount - Self.headerByteCount) / 2))
        } else {
            limit.byteCount = max(1, byteCount - Self.headerByteCount)
        }
        return limit
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
