// SPDX-License-Identifier: Apache-2.0

internal import Utter

extension SignalState {
    /// What is wrong with a microphone's signal, and what it may be, in one line.
    var text: String {
        switch self {
        case .good: "the microphone's signal is good"
        case .absent: "the microphone delivers nothing; recording goes on when it does"
        case .zero: "the microphone delivers only digital silence; is it muted?"
        case .dead: "the input delivers nothing but its last bit; is a microphone connected?"
        case .faint: "the microphone is very quiet; is its level turned down?"
        case .clipped: "the microphone is cut off at full scale; turn its level down"
        }
    }
}

extension SourceDetails {
    /// Rate, channels, samples, period and ring, in one line.
    var text: String {
        let layout = format.channelCount == 1 ? "mono" : "\(format.channelCount) channels"
        let period = format.duration(ofFrames: periodFrames) / .milliseconds(1)
        let buffer = format.duration(ofFrames: bufferFrames) / .milliseconds(1)
        let separator = format.channelCount == 1 ? " " : ", "
        return "\(format.sampleRate) Hz\(separator)\(layout) \(sampleFormat), a period of "
            + "\(Int(period.rounded())) ms, a ring of \(Int(buffer.rounded())) ms"
            + (card.map { ", on \($0)" } ?? "")
    }
}
