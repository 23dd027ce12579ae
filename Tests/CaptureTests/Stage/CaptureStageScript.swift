// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import AudioCore
@testable import Capture

/// A source that plays a list of reads.
///
/// Frame k of the timeline has the value `sample(k)`, lost frames included, so that a test sees
/// where every frame of the result comes from.
final class CaptureStageScript: CaptureSource {
    enum Step {
        /// Delivers this many frames.
        case frames(Int)
        /// Loses this many frames.
        case gap(Int)
        /// Has nothing until the next turn.
        case rest
        /// Has nothing in any turn that follows.
        case restForEver
        /// Has nothing until its descriptor is ready.
        case descriptor(Int32)
        /// Breaks.
        case fail(CaptureError)
        /// Does something at this moment and goes on with the next step.
        case act(@Sendable () -> Void)
    }

    let name = "script"
    let isLive: Bool
    let isStored: Bool
    var warning: String?
    /// The steps that it plays once a pause is over.
    var afterPause: [Step] = []
    private(set) var pauses = 0
    var openError: CaptureError?
    let format: StreamFormat
    /// The value of a frame at its place in the timeline.
    private let sample: (Int) -> Int16

    private(set) var isClosed = false
    private(set) var stopWasRequested = false
    private(set) var position = 0
    private var steps: [Step]
    private var afterStop: [Step]
    private var next = 0
    private var descriptor: Int32 = -1

    /// A microphone, a file, or with `isStored` false a pipe.
    init(
        isLive: Bool = true, isStored: Bool = true, _ steps: [Step],
        rate: Int = 16_000, channels: Int = 1, afterStop: [Step] = [],
        sample: @escaping (Int) -> Int16 = CaptureStageScript.ramp
    ) {
        self.isLive = isLive
        self.isStored = isStored
        self.steps = steps
        format = StreamFormat(sampleRate: rate, channelCount: channels)
        self.afterStop = afterStop
        self.sample = sample
    }

    /// A value that is never zero and tells its place within 30,000 frames.
    static func ramp(_ place: Int) -> Int16 { Int16(1 + place % 30_000) }

    func open() throws(CaptureError) -> StreamFormat {
        if let openError { throw openError }
        return format
    }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        while next < steps.count {
            let step = steps[next]
            next += 1
            switch step {
            case .frames(let count):
                let room = frames.count / format.channelCount
                if count > room {
                    next -= 1
                    steps[next] = .frames(count - room)
                }
                let made = min(count, room)
                for frame in 0..<made {
                    for channel in 0..<format.channelCount {
                        frames[frame * format.channelCount + channel] = sample(position + frame)
                    }
                }
                position += made
                return .frames(made)
            case .gap(let count):
                position += count
                return .gap(frames: count)
            case .rest: return .wait(.until(.now))
            case .restForEver:
                next -= 1
                return .wait(.until(.now))
            case .descriptor(let number):
                descriptor = number
                return .wait(.forDescriptors)
            case .fail(let error): throw error
            case .act(let body): body()
            }
        }
        return .end
    }

    func addDescriptors(to events: inout PolledDescriptors) { events.add(descriptor) }

    func requestStop() {
        stopWasRequested = true
        steps = afterStop
        next = 0
    }

    func pause() {
        pauses += 1
        steps = afterPause
        next = 0
    }

    func close() { isClosed = true }
}

extension [CaptureStageScript.Step] {
    /// The same steps so many times: periods of 20 ms, one a turn, unless others are given.
    static func row(
        _ count: Int, of steps: [CaptureStageScript.Step] = [.frames(320), .rest]
    ) -> [CaptureStageScript.Step] {
        repeatElement(steps, count: count).flatMap { $0 }
    }
}
