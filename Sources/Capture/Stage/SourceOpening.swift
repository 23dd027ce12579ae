// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import LinuxPlatform
internal import Synchronization

/// A source that is opened by a thread of its own, and then belongs to its stage.
///
/// Opening may take seconds: a sound server that does not answer, a pipe without a header, a file
/// on a disk that hangs. A `PreRoll` has its own thread already. A source that cannot be opened, or
/// whose take has ended by the time it is open, is closed by the thread that has opened it.
final class SourceOpening: Sendable {
    typealias Opened = (format: StreamFormat, details: SourceDetails?)

    private enum State {
        case opening
        case done(Result<Opened, CaptureError>)
        case abandoned
    }

    private let program: AwaitedProgram?
    private let state = Mutex(State.opening)
    /// Spares the capture thread the lock.
    private let isDone = Atomic(false)

    init(of source: any CaptureSource) { program = (source as? FileReplay)?.awaited }

    /// Does not wait; `tell` is called on the opening thread, which then drives the source of `card`.
    func begin(
        _ source: Handed<any CaptureSource>, on card: CardThread?,
        then tell: @escaping @Sendable () -> Void
    ) {
        let take: @Sendable () -> Void = { [self] in
            let isOpen = open(source.value)
            tell()
            if isOpen { card?.drive(source.value) }
        }
        if let preRoll = source.value as? PreRoll {
            if card != nil, preRoll.perform(take) { return }
            let reason = card == nil ? "no file descriptor is left" : "it is closed"
            settle(.failure(.deviceUnusable(device: preRoll.name, reason: reason)))
            return tell()
        }
        do throws(SystemError) {
            // Nothing joins it: a device that never answers must not keep a program from ending.
            _ = try NamedThread(name: card == nil ? "open" : "microphone", take)
        } catch {
            source.value.close()
            settle(.failure(.limitReached(name: source.value.name, error)))
            tell()
        }
    }

    /// - Returns: whether the source is open, and is wanted.
    @discardableResult
    func open(_ source: any CaptureSource) -> Bool {
        do throws(CaptureError) {
            let format = try source.open()
            if settle(.success((format, source.details))) { return true }
            source.close()
        } catch {
            source.close()
            settle(.failure(error))
        }
        return false
    }

    /// - Returns: whether the source is wanted.
    @discardableResult
    private func settle(_ result: Result<Opened, CaptureError>) -> Bool {
        let isWanted = state.withLock { state in
            if case .abandoned = state { return false }
            state = .done(result)
            return true
        }
        // releasing: partner of the acquire in `result`; the source is the stage's now.
        isDone.store(true, ordering: .releasing)
        return isWanted
    }

    /// The opened source or its error; nil while it is opening; on the capture thread.
    var result: Result<Opened, CaptureError>? {
        guard isDone.load(ordering: .acquiring) else { return nil }
        return state.withLock { if case .done(let result) = $0 { result } else { nil } }
    }

    /// Leaves a source that is not open yet to the thread that opens it.
    ///
    /// - Returns: whether the source is open, and the stage's.
    func isOpenOrLeft() -> Bool {
        state.withLock { state in
            if case .done(.success) = state { return true }
            if case .done = state { return false }
            state = .abandoned
            program?.giveUp()
            return false
        }
    }
}
