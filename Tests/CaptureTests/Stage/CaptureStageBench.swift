// SPDX-License-Identifier: Apache-2.0

import TestSupport

@testable import AudioCodecs
@testable import AudioCore
@testable import Capture

/// One take whose turns a test takes by hand, and whose ring it empties when it wants to.
final class CaptureStageBench {
    let account = CaptureAccount()
    let control = CaptureControl()
    let stage: CaptureStage
    /// Everything taken from the ring.
    private(set) var bytes: [UInt8] = []
    private let consumer: ByteRing.Consumer
    private let told = Observed<[CaptureEvent]>([])

    init(
        _ source: CaptureStageScript, encoder: any AudioEncoder = WAVEncoder(),
        ringByteCount: Int = 1 << 20, plan: CapturePlan = CapturePlan(tail: .none),
        opens: Bool = true
    ) {
        let ring = ByteRing(minimumCapacity: ringByteCount)
        consumer = ring.takeConsumer()
        stage = CaptureStage(
            source: source, encoder: encoder, producer: ring.takeProducer(), plan: plan,
            control: control, account: account,
            tell: { [told] event in told.update { $0.append(event) } })
        if opens { stage.opening.open(source) }
    }

    /// All that was told, in order.
    var events: [CaptureEvent] { told.value }

    /// What the source delivers, each time that it was told.
    var opened: [StreamFormat] {
        events.compactMap { if case .opened(let format, _) = $0 { format } else { nil } }
    }

    /// How the take has ended, when that was told once.
    var end: CaptureEnd? {
        let ends = events.compactMap { if case .ended(let end) = $0 { end } else { nil } }
        return ends.count == 1 ? ends[0] : nil
    }

    /// What was told of the signal, in order.
    var signals: [SignalState] {
        events.compactMap { if case .signal(let state) = $0 { state } else { nil } }
    }

    /// How often it was told that no voice is heard any more.
    var quiets: Int { events.count { if case .quiet = $0 { true } else { false } } }

    /// How often the first frame was told.
    var begins: Int { events.count { if case .began = $0 { true } else { false } } }

    /// How often it was told that the recording goes on.
    var resumes: Int { events.count { if case .resumed = $0 { true } else { false } } }

    /// The frames at which it has paused.
    var pauses: [Int] {
        events.compactMap { if case .paused(let frame) = $0 { frame } else { nil } }
    }

    var ringIsFinished: Bool { consumer.isFinished }

    /// The samples behind the WAV header.
    var samples: [Int16] { pcm(bytes) }

    /// Takes turns at a moment when every timer is due.
    func turn(_ count: Int = 1) {
        for _ in 0..<count { stage.turn(now: .now + .seconds(1)) }
    }

    func emptyRing() { consumer.takeAll(into: &bytes) }

    /// Takes some turns, asks for the end, and goes on to it; false when it never comes.
    @discardableResult
    func stop(after turns: Int, keepsTail: Bool = true) -> Bool {
        turn(turns)
        control.requestStop(keepsTail: keepsTail)
        return runToEnd()
    }

    /// Takes turns and empties the ring until the take has ended; false when it never does.
    @discardableResult
    func runToEnd(turns: Int = 10_000) -> Bool {
        for _ in 0..<turns {
            turn()
            emptyRing()
            if stage.pendingWait == nil { return true }
        }
        return false
    }
}
