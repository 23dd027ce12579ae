// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Utter
internal import UtterTerminal

/// What was heard of a microphone, for people and for programs.
struct SignalListing {
    private struct Object: Encodable {
        @Nullable var card: String?
        @Nullable var sampleFormat: String?
        @Nullable var sampleRate: Int?
        @Nullable var channels: Int?
        @Nullable var periodMs: Double?
        @Nullable var bufferMs: Double?
        var durationMs: Double
        @Nullable var firstFrameMs: Double?
        @Nullable var peakDecibels: Double?
        @Nullable var floorDecibels: Double?
        var voiceHeard: Bool
        var lostFrames: Int
        /// What was wrong, such as "digital-silence"; empty when nothing was.
        var faults: [String]
    }

    private let report: SignalProbe.Report

    init(_ report: SignalProbe.Report) { self.report = report }

    var isGood: Bool { report.end.faults.isEmpty && report.firstFrame != nil }

    var text: String {
        var lines: [(String, String)] = []
        if let details = report.end.details { lines.append(("microphone", details.text)) }
        if let first = report.firstFrame {
            lines.append(("first sound", "after \(Int(first / .milliseconds(1))) ms"))
        }
        if let peak = report.peakDecibels { lines.append(("peak", Self.decibels(peak))) }
        if let floor = report.floorDecibels { lines.append(("floor", Self.decibels(floor))) }
        lines.append(("voice", report.end.hasVoice == true ? "heard" : "not heard"))
        let lost = lostFrames
        if lost > 0 { lines.append(("lost", "\(lost / 16) ms of sound")) }
        let faults = report.end.faults.map(\.text)
        lines += faults.isEmpty ? [("signal", "good")] : faults.map { ("signal", $0) }
        return lines.map { TextWidth.padded($0.0, to: 13) + $0.1 }.joined(separator: "\n")
    }

    var json: String {
        let details = report.end.details
        let object = Object(
            card: details?.card, sampleFormat: details?.sampleFormat,
            sampleRate: details?.format.sampleRate, channels: details?.format.channelCount,
            periodMs: details.map { $0.format.duration(ofFrames: $0.periodFrames).milliseconds },
            bufferMs: details.map { $0.format.duration(ofFrames: $0.bufferFrames).milliseconds },
            durationMs: report.length.milliseconds, firstFrameMs: report.firstFrame?.milliseconds,
            peakDecibels: report.peakDecibels.map(Self.tenths),
            floorDecibels: report.floorDecibels.map(Self.tenths),
            voiceHeard: report.end.hasVoice == true, lostFrames: lostFrames,
            faults: report.end.faults.map(\.rawValue))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and finite numbers can always be encoded.
        guard let data = try? encoder.encode(object) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }

    private var lostFrames: Int { report.end.gaps.reduce(0) { $0 + $1.frames } }

    private static func tenths(_ value: Float) -> Double { (Double(value) * 10).rounded() / 10 }

    private static func decibels(_ value: Float) -> String { "\(tenths(value)) dBFS" }
}

/// The one line that shows how loud a microphone is now.
struct LevelLine {
    static let removal = "\r\u{1B}[K"

    private let reading: SignalProbe.Reading

    init(_ reading: SignalProbe.Reading) { self.reading = reading }

    /// What draws it over the line before.
    var redrawing: String { Self.removal + text(columns: StandardError.columns) }

    /// A bar from -60 to 0 dBFS, the figure, and what is wrong; at most `columns` - 1 columns.
    func text(columns: Int) -> String {
        let steps = 30
        let filled = min(max(Int((reading.peakDecibels + 60) / 60 * Float(steps)), 0), steps)
        let bar =
            String(repeating: "#", count: filled) + String(repeating: "-", count: steps - filled)
        let figure = "\(Int(reading.peakDecibels.rounded())) dBFS"
        let state = reading.state == .good ? "" : "  " + reading.state.rawValue
        return String("\(bar) \(figure)\(state)".prefix(max(0, columns - 1)))
    }
}
