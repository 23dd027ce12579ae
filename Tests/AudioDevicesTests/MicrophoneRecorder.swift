// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import TestSupport

@testable import AudioCore
@testable import AudioDevices
@testable import Capture

/// A small capture loop around one microphone, as tests need it.
///
/// Runs on a thread of its own (`record`), because it waits in poll(2).
struct MicrophoneRecorder {
    /// What happened, to be judged by the test afterwards.
    struct Recording: Sendable {
        var format = StreamFormat.speech
        /// What was read, the gaps left out.
        var samples: [Int16] = []
        var reads: [Read] = []
        var gaps: [Gap] = []
        var hasEnded = false
        var failure: CaptureError?

        /// Frames read and lost: the place of the next one.
        var position: Int { frames + gaps.reduce(0) { $0 + $1.frames } }
        var frames: Int { reads.reduce(0) { $0 + $1.frames } }
    }

    /// Frames that came in one read.
    struct Read: Sendable {
        var position: Int
        var frames: Int
    }

    /// Frames that the microphone says it lost.
    struct Gap: Sendable {
        var position: Int
        var frames: Int
    }

    let microphone: Microphone
    private(set) var recording = Recording()
    private var buffer: [Int16] = []
    private var events = PolledDescriptors()
    private var wait: SourceWait?

    /// Opens a microphone, drives it on a thread of its own, and closes it.
    ///
    /// - Returns: what was recorded until `script` returned or threw a `CaptureError`.
    static func record(
        _ device: String, _ script: @escaping @Sendable (inout MicrophoneRecorder) throws -> Void
    ) async throws -> Recording {
        try await onOwnThread { Result { try recordHere(device, script) } }.get()
    }

    private static func recordHere(
        _ device: String, _ script: (inout MicrophoneRecorder) throws -> Void
    ) throws -> Recording {
        var recorder = MicrophoneRecorder(microphone: Microphone(device: device))
        defer { recorder.microphone.close() }
        do {
            recorder.recording.format = try recorder.microphone.open()
            // As long as the longest ring, so that no read is cut short by us.
            let format = recorder.recording.format
            recorder.buffer = Array(
                repeating: 0, count: format.sampleRate * format.channelCount * 8)
            recorder.microphone.addDescriptors(to: &recorder.events)
            try script(&recorder)
        } catch let failure as CaptureError {
            recorder.recording.failure = failure
        }
        return recorder.recording
    }

    private init(microphone: Microphone) { self.microphone = microphone }

    /// Records until `frames` frames have been read or lost since the start.
    mutating func record(untilPosition position: Int) throws {
        try run { $0.position >= position }
    }

    /// Records until the microphone says that there is no more.
    mutating func recordToEnd() throws {
        try run { $0.hasEnded }
    }

    /// Takes all that a card holds whose clock the test moves, and looks again where it would wait.
    mutating func readAll() throws {
        var waits = 0
        while waits < 2 {
            _ = microphone.isReady(events)
            try readOnce()
            waits = wait == nil ? 0 : waits + 1
        }
    }

    /// Asks for the end and takes what there is, without waiting for anything.
    mutating func stop() throws {
        microphone.requestStop()
        wait = nil
        while !recording.hasEnded, wait == nil { try readOnce() }
    }

    /// Takes the end back.
    mutating func goOn() {
        microphone.takeBackStop()
        recording.hasEnded = false
    }

    /// Reads nothing until the card has captured frame `frame`, as a stalled program does.
    func stall(_ card: VirtualMicrophone, untilFrame frame: Int) {
        let account = card.account
        let until = account.firstFrameAt + frame * 1_000_000_000 / account.rate
        var time = timespec(tv_sec: until / 1_000_000_000, tv_nsec: until % 1_000_000_000)
        while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil) == EINTR {}
    }

    /// Reads and waits until `isDone`.
    mutating func run(until isDone: (Recording) -> Bool) throws {
        let deadline = ContinuousClock.now + .patience
        while !isDone(recording), !recording.hasEnded {
            guard ContinuousClock.now < deadline else {
                throw VirtualMicrophoneTimeout(position: recording.position)
            }
            try readOnce()
            if let wait { pause(wait, before: deadline) }
        }
    }

    /// Reads once; sets `wait` when there is nothing.
    private mutating func readOnce() throws {
        wait = nil
        switch try Self.read(microphone, into: &buffer) {
        case .frames(let count):
            recording.reads.append(Read(position: recording.position, frames: count))
            recording.samples += buffer.prefix(count * recording.format.channelCount)
        case .gap(let frames):
            recording.gaps.append(Gap(position: recording.position, frames: frames))
        case .wait(let what): wait = what
        case .end: recording.hasEnded = true
        }
    }

    private static func read(
        _ microphone: Microphone, into buffer: inout [Int16]
    ) throws(CaptureError) -> SourceRead {
        var span = buffer.mutableSpan
        return try microphone.read(into: &span)
    }

    private mutating func pause(_ wait: SourceWait, before deadline: ContinuousClock.Instant) {
        var until = deadline
        var polled = PolledDescriptors()
        switch wait {
        case .forDescriptors: polled = events
        case .forDescriptorsOrUntil(let instant):
            polled = events
            until = min(until, instant)
        case .until(let instant): until = min(until, instant)
        }
        repeat {
            if polled.wait(.until(until)), microphone.isReady(polled) { return }
        } while ContinuousClock.now < until
    }

    /// `CLOCK_MONOTONIC`, in ns.
    static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

/// Thrown when a test waited too long.
struct VirtualMicrophoneTimeout: Error {
    var position: Int
}

extension MicrophoneRecorder.Recording {
    /// The first frame that is not the card's of that number, or nil when all are.
    var firstWrongFrame: Int? { firstWrongFrame(without: 0..<0, shiftedBy: 0) }

    /// The same without some frames, behind which each is the card's that is so many later.
    func firstWrongFrame(without left: Range<Int>, shiftedBy shift: Int) -> Int? {
        var at = 0
        for read in reads {
            for frame in read.position..<read.position + read.frames {
                let number = frame < left.lowerBound ? frame : frame + shift
                for channel in 0..<format.channelCount {
                    let isRight =
                        samples[at] == VirtualMicrophone.sample(at: number, channel: channel)
                    if !left.contains(frame), !isRight { return frame }
                    at += 1
                }
            }
        }
        return nil
    }
}
