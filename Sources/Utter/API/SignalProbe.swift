// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
public import Capture
public import LinuxPlatform
internal import Synchronization

/// Listens to a microphone without a take, and keeps nothing: how loud it is, and what is wrong.
public enum SignalProbe {
    /// The state of a microphone at one moment.
    public struct Reading: Sendable {
        /// How much was heard so far.
        public var elapsed: Duration
        /// The loudest sample since the last reading, in dBFS.
        public var peakDecibels: Float
        /// The state of the signal.
        public var state: SignalState
        /// The loudest sample so far; nil without one.
        package private(set) var loudest: Float?
        /// How loud it has been so far when it was quiet; nil before anything was heard.
        package private(set) var floor: Float?
    }

    /// The summary of what was heard.
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
        to source: sending any CaptureSource, for length: Duration,
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
                source: source, encoder: AudioCodec.makeWAVEncoder(),
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
            /// How many periods were how loud, from -96 dBFS on, to the tenth.
            var levels = [Int](repeating: 0, count: 961)
            var loudest: Float = -96
            var nextTelling = Duration.zero

            /// The level that a tenth of all periods are below; nil without any.
            var floor: Float? {
                var rest = levels.reduce(0, +) / 10
                let place = levels.firstIndex { count in
                    rest -= count
                    return rest < 0
                }
                return place.map { Float($0) / 10 - 96 }
            }
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

        /// On the microphone's thread, after each period.
        func take() {
            while consumer.consume({ $0.count }) > 0 {}
            loop.withLock { $0 }?.wake()
            let (length, level) = (account.length, account.level)
            let news = state.withLock { state -> Reading? in
                state.levels[min(max(Int((level.decibels + 96) * 10 + 0.5), 0), 960)] += 1
                state.loudest = max(state.loudest, level.peakDecibels)
                guard length >= state.nextTelling else { return nil }
                state.nextTelling = length + .milliseconds(100)
                defer { state.loudest = -96 }
                return reading(state, peak: state.loudest)
            }
            if let news { tell(news) }
        }

        func note(_ event: CaptureEvent) {
            guard case .signal(let next) = event else { return }
            let news = state.withLock { state in
                state.state = next
                return reading(state, peak: -96)
            }
            if next == .absent { tell(news) }
        }

        private func reading(_ state: State, peak: Float) -> Reading {
            Reading(
                elapsed: account.length, peakDecibels: peak, state: state.state,
                loudest: account.peak?.peakDecibels, floor: state.floor)
        }

        func report(_ end: CaptureEnd) -> Report {
            state.withLock { state in
                Report(
                    end: end, length: account.length,
                    firstFrame: account.firstFrame.map { $0 - began },
                    peakDecibels: account.peak?.peakDecibels, floorDecibels: state.floor)
            }
        }
    }
}
