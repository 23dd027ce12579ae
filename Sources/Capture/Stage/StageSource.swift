// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Glibc

/// The source of a stage, as the thread sees it that has the take.
///
/// A live one has a `CardThread`. Around each of its calls that thread can lose the take: a function
/// that says so was called on a thread that may touch nothing of the take any more.
final class StageSource {
    private enum Hold {
        case opening
        case open
        /// To the card's thread, which closes it as well.
        case handedOver
        /// Closed, or left to another thread.
        case released
    }

    let opening: SourceOpening
    let isLive: Bool
    /// Set before the capture thread has the stage; without one that thread drives a live source, too.
    var card: CardThread?
    /// The opening thread's until `opening` has a result.
    let source: any CaptureSource
    let name: String
    private var hold = Hold.opening
    /// Known once the source is closed.
    private(set) var warning: String?
    /// Interleaved samples of the last read; of the thread that drives the source, even when that has
    /// lost the take.
    private(set) var samples: [Int16] = []
    private var stops = false
    /// The place of the source's descriptors among those of all.
    private var polled = 0..<0

    init(_ source: any CaptureSource) {
        self.source = source
        (name, isLive) = (source.name, source.isLive)
        opening = SourceOpening(of: source)
    }

    var isStored: Bool { source.isStored }
    var isReleased: Bool { if case .released = hold { true } else { false } }
    /// Whether the last read has left nothing, and an end is not asked for.
    var isDrained: Bool { isLive && !stops && source.isDrained }

    /// When the next frames of a file are due; by then the ring mostly has room for them.
    var nextFrames: ContinuousClock.Instant? { isLive ? nil : source.nextFrames }

    /// The source is open.
    func begin() { hold = .open }

    /// A read gives up to so many samples.
    func makeRoom(_ count: Int) { samples = [Int16](repeating: 0, count: count) }

    /// It is closed, or could not be opened.
    func release() { (hold, polled) = (.released, 0..<0) }

    /// Leaves it to its thread, which hangs: a microphone that stays open is not used again.
    func leave() {
        release()
        (source as? PreRoll)?.retire()
    }

    /// Hands an open source with its stage over to its thread; true when that has been done now, and
    /// this thread has lost the take.
    func handOver(_ stage: CaptureStage) -> Bool {
        guard let card, case .open = hold else { return false }
        hold = .handedOver
        card.take(stage)
        return true
    }

    /// Closes the source, or leaves it to the thread that opens it.
    ///
    /// - Returns: whether this thread still has the take, which goes back to the capture thread.
    func close(for stage: CaptureStage) -> Bool {
        if case .opening = hold {
            hold = opening.isOpenOrLeft() ? .open : .released
            if isReleased, stage.openingWatch.isLate { leave() }
        }
        if case .released = hold { return true }
        guard !handOver(stage) else { return false }
        card?.announceClosing()
        guard driving({ source.close() }) != nil else { return false }
        warning = source.warning
        release()
        return card == nil
    }

    /// Closes a live source for a while; false when the take has been lost.
    func pause() -> Bool { driving { source.pause() } != nil }

    /// - Returns: what the source delivers from now on; nil when the take has been lost.
    func resume() throws(CaptureError) -> StreamFormat? {
        try driving { () throws(CaptureError) in try source.open() }
    }

    /// The end is asked for with the next read.
    func requestStop() { stops = true }

    /// - Returns: nil when the take has been lost.
    func read() throws(CaptureError) -> SourceRead? {
        var buffer = samples
        samples = []
        defer { samples = buffer }
        return try driving { () throws(CaptureError) in
            if stops { source.requestStop() }
            stops = false
            var room = buffer.mutableSpan
            return try source.read(into: &room)
        }
    }

    private func driving<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        guard let card else { return try body() }
        return try card.during(body)
    }

    // MARK: - On the capture thread, which waits for many

    func addDescriptors(to events: inout PolledDescriptors) {
        let first = events.count
        source.addDescriptors(to: &events)
        polled = first..<events.count
    }

    /// Whether what has come makes a read worth while.
    func isReady(in events: PolledDescriptors) -> Bool {
        let own = polled
        polled = 0..<0
        return own.contains { events.hasEvent($0) } && source.isReady(events)
    }
}
