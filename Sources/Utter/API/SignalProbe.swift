// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
public import Capture
public import LinuxPlatform
internal import Synchronization

/// Listens to a microphone without a take, and keeps nothing: how loud it is, and what is wrong.
public enum SignalProbe {
    /// What a microphone is like at one moment.
    public struct Reading: Sendable {
        /// How much was heard so far.
        public var elapsed: Duration
        /// The loudest sample since the last reading, in dBFS.
        public var peakDecibels: Float
        /// What is wrong with the signal, if anything is.
        public var state: SignalState

        init(elapsed: Duration, peakDecibels: Float, state: SignalState) {
            (self.elapsed, self.peakDecibels, self.state) = (elapsed, peakDecibels, state)
        }
    }

    /// What was heard in all.
    public struct Report: Sendable {
        /// How it ended, with what was agreed on and whether a voice was heard.
        public var end: CaptureEnd
        /// How much was heard, what was lost included.
        public var length: Duration
        /// From the beginning to the first frame; nil without one.
        public var firstFrame: Duration?
        /// The loudest sample in dBFS; nil without one.
        public var peakDecibels: Float?
        /// How loud it is when it is quiet, in dBFS: a tenth of all periods is below.
        public var floorDecibels: Float?
    }

    /// Listens until so much was heard, the device is lost, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - source: the microphone; used here alone.
    ///   - length: how much is heard.
    ///   - tell: called ten times a second at most, on the capture thread.
    /// - Returns: what was heard in all.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    public static func listen(
        to source: any CaptureSource, for length: Duration,
        tell: @escaping @Sendable (Reading) -> Void = { _ in }
    ) async throws(SystemError) -> Report {
        let ring = ByteRing(minimumCapacity: AudioCodec.pcm.ringByteCount)
        let heard = Heard(ring.takeConsumer(), tell: tell)
        let loop = try CaptureLoop(onWrite: { heard.take() })
        heard.loop.withLock { $0 = loop }
        let control = CaptureControl()
        let ended = Settlement<CaptureEnd>()
        loop.add(
            CaptureStage(
                source: ThreadedSource.driving(source), encoder: WAVEncoder(),
                producer: ring.takeProducer(),
                plan: CapturePlan(tail: .none, longest: length), control: control,
                account: heard.account,
                tell: { event in
                    heard.note(event)
                    if case .ended(let end) = event { ended.settle(end) }
                }))
        let end = await withTaskCancellationHandler {
            await ended.value
        } onCancel: {
            control.requestStop(keepsTail: false)
            loop.wake()
        }
        heard.loop.withLock { $0 = nil }
        loop.shutDown()
        return heard.report(end)
    }

    private final class Heard: Sendable {
        private struct State {
            var state = SignalState.good
            var levels: [Float] = []
            var loudest: Float = -96
            var nextTelling = Duration.zero
        }

        let account = CaptureAccount()
        /// A source that can wait does so until what came before was taken.
        let loop = Mutex<CaptureLoop?>(nil)
        private let began = ContinuousClock.now
        private let tell: @Sendable (Reading) -> Void
        private let consumer: ByteRing.Consumer
        private let state = Mutex(State())

        init(
            _ consumer: consuming ByteRing.Consumer, tell: @escaping @Sendable (Reading) -> Void
        ) {
            self.consumer = consumer
            self.tell = tell
        }

        /// On the capture thread, after each period.
        func take() {
            while consumer.consume({ $0.count }) > 0 {}
            loop.withLock { $0 }?.wake()
            let (length, level) = (length, account.level)
            let reading: Reading? = state.withLock { state in
                state.levels.append(level.decibels)
                state.loudest = max(state.loudest, level.peakDecibels)
                guard length >= state.nextTelling else { return nil }
                state.nextTelling = length + .milliseconds(100)
                defer { state.loudest = -96 }
                return Reading(elapsed: length, peakDecibels: state.loudest, state: state.state)
            }
            if let reading { tell(reading) }
        }

        func note(_ event: CaptureEvent) {
            guard case .signal(let next) = event else { return }
            state.withLock { $0.state = next }
            if next == .absent { tell(Reading(elapsed: length, peakDecibels: -96, state: next)) }
        }

        func report(_ end: CaptureEnd) -> Report {
            state.withLock { state in
                let levels = state.levels.sorted()
                return Report(
                    end: end, length: length, firstFrame: account.firstFrame.map { $0 - began },
                    peakDecibels: account.peak?.peakDecibels,
                    floorDecibels: levels.isEmpty ? nil : levels[levels.count / 10])
            }
        }

        private var length: Duration {
            StreamFormat.speech.duration(ofFrames: account.capturedFrames + account.gapFrames)
        }
    }
}
