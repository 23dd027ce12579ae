// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// An open microphone that is lent to one take, together with what was said before.
///
/// `@unchecked Sendable` because what is not locked is touched by one thread at a time: the one
/// that opens it, then the one that drives it, as `CaptureSource` says.
final class LentMicrophone: CaptureSource, @unchecked Sendable {
    private let keeper: PreRoll
    private let kept: KeptSource
    private let wakeup: Wakeup
    private let answer = Mutex<Result<StreamFormat, CaptureError>?>(nil)
    private let isLent = Mutex(false)
    private var isBroken = false
    private var ending = Ending.none

    private enum Ending {
        case none
        /// The last frames come by then.
        case requested(until: ContinuousClock.Instant)
        /// What had come before was read; the next frames are the last.
        case drained(until: ContinuousClock.Instant)
        /// The last frames were read.
        case complete
    }

    /// The longest time to open a device, in seconds.
    private static let patience = 5
    /// Without frames for this long, the last ones are not awaited.
    private static let lastFrames = Duration.milliseconds(60)

    init(of keeper: PreRoll, _ kept: KeptSource) throws(SystemError) {
        self.keeper = keeper
        self.kept = kept
        wakeup = try Wakeup()
    }

    var name: String { kept.source.name }
    var isLive: Bool { true }

    /// Waits for the device, which another take may have until its end.
    func open() throws(CaptureError) -> StreamFormat {
        keeper.lend(to: self)
        let deadline = ContinuousClock.now + .seconds(Self.patience)
        while answer.withLock({ $0 == nil }) {
            guard deadline > .now || !keeper.withdraw(self) else {
                throw .deviceBusy(device: name)
            }
            _ = WorkerPause.until(deadline).wait(for: wakeup.descriptor)
        }
        guard let answer = answer.withLock({ $0 }) else { throw .deviceBusy(device: name) }
        let format = try answer.get()
        isLent.withLock { $0 = true }
        return format
    }

    func accept(_ format: StreamFormat) { settle(.success(format)) }

    func refuse(_ error: CaptureError) { settle(.failure(error)) }

    private func settle(_ result: Result<StreamFormat, CaptureError>) {
        answer.withLock { $0 = result }
        wakeup.signal()
    }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        let channels = kept.format.channelCount
        let remembered = kept.recent.remove(into: &frames, inMultiplesOf: channels)
        if remembered > 0 { return .frames(remembered / channels) }
        if case .complete = ending { return .end }
        do throws(CaptureError) {
            let read = try kept.source.read(into: &frames)
            return ended(by: read)
        } catch {
            isBroken = true
            throw error
        }
    }

    /// The device goes on when the take ends: its last frames come with the next interrupt.
    private func ended(by read: SourceRead) -> SourceRead {
        switch (ending, read) {
        case (.none, _), (.complete, _): break
        case (.requested(let end), .wait(let wait)):
            ending = .drained(until: end)
            return .wait(wait.limited(to: end))
        case (.drained, .frames), (.drained, .gap): ending = .complete
        case (.drained(let end), .wait(let wait)):
            guard end > .now else { return .end }
            return .wait(wait.limited(to: end))
        case (.requested, _), (.drained, .end): break
        }
        return read
    }

    var isDrained: Bool {
        if case .none = ending { kept.recent.count == 0 && kept.source.isDrained } else { false }
    }

    func appendPollDescriptors(to descriptors: inout [pollfd]) {
        kept.source.appendPollDescriptors(to: &descriptors)
    }

    func isReady(_ descriptors: Span<pollfd>) -> Bool { kept.source.isReady(descriptors) }

    func requestStop() {
        if case .none = ending { ending = .requested(until: .now + Self.lastFrames) }
    }

    func close() {
        let wasLent = isLent.withLock { isLent in
            defer { isLent = false }
            return isLent
        }
        guard wasLent else { return }
        kept.recent.removeAll()
        keeper.takeBack(isBroken: isBroken)
    }
}
