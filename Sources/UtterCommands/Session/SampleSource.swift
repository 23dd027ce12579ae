// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Utter

/// Samples that are in memory already, 16 kHz mono.
final class SampleSource: CaptureSource {
    let name: String
    let isLive = false
    let isStored = true

    private let samples: [Int16]
    private var position = 0
    /// When the first sample is said; nil when all are there at once.
    private let began: ContinuousClock.Instant?

    /// Names samples, which come as if they were spoken from now on if `isSpoken`.
    init(_ name: String, _ samples: [Int16], isSpoken: Bool = false) {
        (self.name, self.samples) = (name, samples)
        began = isSpoken ? .now : nil
    }

    /// Silence, to ask a service when there is no microphone.
    static func silence(_ length: Duration) -> SampleSource {
        SampleSource("silence", Array(repeating: 0, count: StreamFormat.speech.frames(in: length)))
    }

    /// A quiet tone: no speech, and not the digital silence at which some recognisers fail.
    static func tone(_ length: Duration, isSpoken: Bool = false) -> SampleSource {
        let format = StreamFormat.speech
        // 440 Hz at about -30 dBFS.
        let step = 2 * Double.pi * 440 / Double(format.sampleRate)
        let samples = (0..<format.frames(in: length)).map { Int16(1_000 * sin(step * Double($0))) }
        return SampleSource("a tone", samples, isSpoken: isSpoken)
    }

    func open() throws(CaptureError) -> StreamFormat { .speech }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        var count = min(frames.count, samples.count - position)
        guard count > 0 else { return .end }
        if let began {
            count = min(count, StreamFormat.speech.framesPerPeriod)
            let due = began + StreamFormat.speech.duration(ofFrames: position + count)
            guard due <= .now else { return .wait(.until(due)) }
        }
        for index in 0..<count { frames[index] = samples[position + index] }
        position += count
        return .frames(count)
    }

    func addDescriptors(to events: inout PolledDescriptors) {}

    func requestStop() { position = samples.count }

    func close() {}
}
