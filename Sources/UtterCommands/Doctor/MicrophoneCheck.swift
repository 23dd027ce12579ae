// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import Utter

struct MicrophoneCheck: Check {
    let name = "microphone"
    let options: MicrophoneOptions

    func run() async -> [Finding] {
        let report: SignalProbe.Report
        let device: String
        do throws(CommandFailure) {
            let (name, period) = try options.source()
            device = name
            report = try await orFailure(awaiting: {
                try await SignalProbe.listen(
                    to: DeviceHost.microphone(name, period: period), for: .seconds(2))
            })
        } catch {
            return [.bad(error)]
        }
        if case .source(let error) = report.end.cause {
            return [.bad(error.description, hint: error.hint)]
        }
        return opening(device, report) + signal(report)
    }

    private func opening(_ device: String, _ report: SignalProbe.Report) -> [Finding] {
        let text = ([device] + [report.end.details?.text].compactMap(\.self)).joined(
            separator: ": ")
        guard let first = report.firstFrame else {
            return [
                .bad(
                    "\(text); no sound came",
                    hint: CaptureError.deviceSilent(device: device, seconds: 2).hint)
            ]
        }
        let delay = Int(first / .milliseconds(1))
        guard delay > 1_000 else { return [.good("\(text); first sound after \(delay) ms")] }
        return [
            .warning(
                "\(text); its first sound came after \(delay) ms",
                hint: "wait for the word that it listens; a headset with a wire is faster")
        ]
    }

    private func signal(_ report: SignalProbe.Report) -> [Finding] {
        var findings = report.end.faults.map { fault -> Finding in
            switch fault {
            case .zero, .dead, .absent: .bad(fault.text, hint: hint(fault))
            case .faint, .clipped, .cancelling, .good: .warning(fault.text, hint: hint(fault))
            }
        }
        let lost = report.end.gaps.reduce(0) { $0 + $1.frames } / 16
        if lost > 0 { findings.append(.warning("\(lost) ms of sound were lost")) }
        if findings.isEmpty, let peak = report.peakDecibels, let floor = report.floorDecibels {
            findings.append(
                .good("peak \(Int(peak.rounded())) dBFS, floor \(Int(floor.rounded())) dBFS"))
        }
        return findings
    }

    private func hint(_ fault: SignalState) -> String? {
        switch fault {
        case .good: nil
        case .absent: "connect it again, or restart the sound server"
        case .zero: "unmute it in the mixer or at its switch: alsamixer, or pavucontrol"
        case .dead: "connect a microphone, or pass another of those that 'utter devices' lists"
        case .cancelling: "set its channels to the same phase, or record one of them"
        case .faint, .clipped: "set its level in the mixer, and look at it with: utter level"
        }
    }
}
