// SPDX-License-Identifier: Apache-2.0

/// A client that is measured: how it records and sends, as a command line.
enum Client: String, CaseIterable {
    case utterPCM = "utter pcm"
    case utterPCM10 = "utter pcm -c recording.period=10ms"
    /// As often as the pair and plain C read: ALSA's blocking read waits for two periods.
    case utterPCM40 = "utter pcm -c recording.period=40ms"
    case utterOpus = "utter ogg-opus"
    case utterOpus40 = "utter ogg-opus -c recording.period=40ms"
    case arecord20 = "arecord -F 20000 | curl"
    case arecordDefault = "arecord | curl"
    case plainPCM = "plain C pcm"
    case plainOpus = "plain C opus"
    case ffmpegOpus = "ffmpeg opus"

    /// Whether it is one of ours.
    var isOurs: Bool { rawValue.hasPrefix("utter") }

    /// What it is compared with: the simplest program that sends the same.
    var limit: Client {
        switch self {
        case .utterOpus, .utterOpus40, .ffmpegOpus, .plainOpus: .plainOpus
        default: .plainPCM
        }
    }

    /// The words of a command that records from a device for some seconds.
    func recording(
        _ workplace: Workplace, device: String, seconds: Int, url: String
    ) -> [String] {
        switch self {
        case .utterPCM, .utterPCM10, .utterPCM40, .utterOpus, .utterOpus40:
            let isSlow = self == .utterPCM40 || self == .utterOpus40
            let period = self == .utterPCM10 ? 10 : isSlow ? 40 : 20
            return [
                workplace.program, "--device", device, "--for", "\(seconds)s", "--to", url, "-q",
                "--format", limit == .plainOpus ? "ogg-opus" : "pcm",
                "-c", "recording.period=\(period)ms",
            ]
        case .arecord20, .arecordDefault:
            let period = self == .arecord20 ? "-F 20000 -B 500000" : ""
            return [
                "sh", "-c",
                "arecord -q -D \(device) -f S16_LE -r 16000 -c 1 -t raw \(period) -d \(seconds)"
                    + " | curl -sS --fail-with-body -X POST -H Expect:"
                    + " -H 'Content-Type: audio/pcm' -T - \(url)",
            ]
        case .plainPCM, .plainOpus:
            return [
                workplace.plainClient, "record", device, "\(seconds)", url,
                self == .plainOpus ? "opus" : "pcm",
            ]
        case .ffmpegOpus:
            return [
                "ffmpeg", "-loglevel", "error", "-f", "alsa", "-sample_rate", "16000", "-channels",
                "1", "-i",
                device, "-t", "\(seconds)", "-c:a", "libopus", "-b:a", "32k", "-application",
                "voip", "-f", "ogg", "-page_duration", "20000", "-flush_packets", "1", "-method",
                "POST", url,
            ]
        }
    }
}
