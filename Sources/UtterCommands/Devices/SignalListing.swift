// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import Utter
internal import UtterTerminal

struct SignalListing {
    private let report: SignalProbe.Report

    init(_ report: SignalProbe.Report) { self.report = report }

    var isGood: Bool { report.end.faults.isEmpty && report.firstFrame != nil }

    var text: String {
        var lines: [(String, String)] = []
        if let details = report.end.details { lines.append(("microphone", details.text)) }
        if let first = report.firstFrame {
            lines.append(("first sound", "after \(Int(first / .milliseconds(1))) ms"))
        }
        lines += Self.figures(report.peakDecibels, floor: report.floorDecibels)
        lines.append(("voice", report.end.hasVoice == true ? "heard" : "not heard"))
        let lost = lostFrames
        if lost > 0 { lines.append(("lost", "\(lost / 16) ms of sound")) }
        lines += Self.verdict(report.end.faults)
        return lines.map { TextWidth.padded($0.0, to: 13) + $0.1 }.joined(separator: "\n")
    }

    fileprivate static func figures(_ peak: Float?, floor: Float?) -> [(String, String)] {
        [("peak", peak), ("floor", floor)].compactMap { name, value in
            value.map { (name, "\(tenths($0)) dBFS") }
        }
    }

    fileprivate static func verdict(_ faults: [SignalState]) -> [(String, String)] {
        faults.isEmpty ? [("signal", "good")] : faults.map { ("signal", $0.text) }
    }

    var json: String {
        let details = report.end.details
        let format = details?.format
        let object: JSONObject = [
            "card": details?.card, "sampleFormat": details?.sampleFormat,
            "sampleRate": format?.sampleRate, "channels": format?.channelCount,
            "periodMs": details.map { $0.format.duration(ofFrames: $0.periodFrames).milliseconds },
            "bufferMs": details.map { $0.format.duration(ofFrames: $0.bufferFrames).milliseconds },
            "durationMs": report.length.milliseconds,
            "firstFrameMs": report.firstFrame?.milliseconds,
            "peakDecibels": report.peakDecibels.map(Self.tenths),
            "floorDecibels": report.floorDecibels.map(Self.tenths),
            "voiceHeard": report.end.hasVoice == true, "lostFrames": lostFrames,
            "faults": report.end.faults.map(\.rawValue),
        ]
        return JSONOutput.text(object)
    }

    private var lostFrames: Int { report.end.gaps.reduce(0) { $0 + $1.frames } }

    private static func tenths(_ value: Float) -> Double { (Double(value) * 10).rounded() / 10 }
}

/// A person's view of a microphone while it is listened to; pure.
struct LevelState {
    private var meter = LevelMeter()
    private var faults: [SignalState] = []

    /// How loud it is now, and below that what `SignalListing` would say of it if it ended.
    mutating func note(
        _ reading: SignalProbe.Reading, at now: ContinuousClock.Instant
    ) -> ScreenState {
        meter.note(decibels: reading.peakDecibels, at: now)
        let present =
            reading.state == .good || faults.contains(reading.state) ? [] : [reading.state]
        let all = faults + present
        // That nothing has come yet is not a fault: a headset needs seconds.
        if reading.loudest != nil { faults = all }
        let figure = "\(Int(reading.peakDecibels.rounded())) dBFS"
        var screen = ScreenState(
            "level", all.isEmpty ? nil : .caution, facts: [.level(meter), .text([figure])])
        let rows =
            SignalListing.figures(reading.loudest, floor: reading.floor)
            + SignalListing.verdict(all)
        screen.words = rows.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return screen
    }
}
