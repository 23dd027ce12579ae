// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import Utter
internal import UtterTerminal

extension TakeNotice {
    var text: String {
        switch self {
        case .unprotected(let reason):
            "not protected: this take is held in memory only: \(reason)"
        case .protectedAgain: "protected again: the disk holds the whole take"
        case .fragile(let reason):
            "if this program is killed, what the disk does not have yet is lost: \(reason)"
        case .damaged(let report): "not whole: \(report)"
        case .oddAnswer(let reason), .unfiltered(let reason): reason
        case .diskNearlyFull(let free, let reason):
            "the disk is nearly full"
                + (free.map { ", \(StatusLine.size($0)) left" } ?? "") + ": \(reason)"
        case .spoolNearlyFull(let reason):
            "\(reason); beyond it, recordings are held in memory only"
        case .slowDisk(let wait):
            "the disk is slow: a power cut would have cost the last \(StatusLine.seconds(wait))"
        case .limitNear(let rest, let limit):
            "\(rest.secondsText) are left: the service takes \(limit.secondsText) at most"
        case .limitReached(let limit):
            "the recording ends and is sent: the service takes \(limit.secondsText) at most"
        case .cutShort(let reason): "the recording was ended: \(reason)"
        case .ofSource(let warning): warning
        }
    }
}

extension CaptureEnd {
    /// Says what has gone wrong with the sound, but for the faults of the signal that were `told`.
    func warnings(besides told: Set<SignalState> = []) -> [String] {
        var warnings = faults.filter { !told.contains($0) }.map(text)
        if case .source(let error) = cause, error.isLossInMidTake {
            warnings.insert(error.description, at: 0)
        }
        // A damaged recording has its gaps in its notice.
        let gaps = gaps.filter { $0.cause != .damaged }
        let frames = gaps.reduce(0) { $0 + $1.frames }
        if frames > 0 {
            let times = gaps.count == 1 ? "once" : "\(gaps.count) times"
            warnings.append(
                "\(frames / 16) ms of sound were lost (\(times)) and replaced by silence")
        }
        return warnings
    }
}

extension SourceDetails {
    var text: String {
        let layout = format.channelCount == 1 ? "mono" : "\(format.channelCount) channels"
        let period = format.duration(ofFrames: periodFrames) / .milliseconds(1)
        let buffer = format.duration(ofFrames: bufferFrames) / .milliseconds(1)
        let separator = format.channelCount == 1 ? " " : ", "
        return "\(format.sampleRate) Hz\(separator)\(layout) \(sampleFormat), a period of "
            + "\(Int(period.rounded())) ms, a buffer of \(Int(buffer.rounded())) ms"
            + (card.map { ", on \($0)" } ?? "")
    }
}

extension StatusLine {
    static func clock(_ duration: Duration) -> String { ScreenState.clock(duration) }

    /// Seconds, to the hundredth below ten.
    static func seconds(_ duration: Duration) -> String {
        let hundredths =
            Int(duration.components.seconds) * 100
            + Int(duration.components.attoseconds / 10_000_000_000_000_000)
        guard hundredths < 1_000 else { return "\(hundredths / 100) s" }
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
    }

    /// Milliseconds, to the tenth below 100.
    static func milliseconds(_ duration: Duration) -> String {
        let tenths = Int((duration / .microseconds(100)).rounded())
        guard tenths < 1_000 else { return "\((tenths + 5) / 10) ms" }
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    static func size(_ count: Int) -> String {
        count < 1_000
            ? "\(count) B"
            : count < 1_000_000
                ? "\(count / 1_000) kB"
                : "\(count / 1_000_000).\(count / 100_000 % 10) MB"
    }
}
