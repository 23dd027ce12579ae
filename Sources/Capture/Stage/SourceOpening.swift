// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import LinuxPlatform
internal import Synchronization

/// A source that is opened by a thread of its own, and then belongs to the capture thread.
///
/// Opening may take seconds: a sound server that does not answer, a pipe without a header, a file
/// on a disk that hangs. A source whose take has ended by the time it is open is closed by
/// the thread that has opened it.
final class SourceOpening: Sendable {
    private enum State {
        case opening
        case done(Result<StreamFormat, CaptureError>)
        case abandoned
    }

    private let source: any CaptureSource
    private let state = Mutex(State.opening)
    /// Spares the capture thread the lock.
    private let isDone = Atomic(false)

    init(_ source: any CaptureSource) { self.source = source }

    /// Does not wait; `tell` is called on the opening thread.
    func begin(then tell: @escaping @Sendable () -> Void) {
        do throws(SystemError) {
            // Nothing joins it: a device that never answers must not keep a program from ending.
            _ = try NamedThread(name: "open") { [self] in
                open()
                tell()
            }
        } catch {
            settle(.failure(.limitReached(name: source.name, error)))
            tell()
        }
    }

    func open() {
        let source = source
        settle(Result { () throws(CaptureError) in try source.open() })
    }

    private func settle(_ result: Result<StreamFormat, CaptureError>) {
        let isWanted = state.withLock { state in
            if case .abandoned = state { return false }
            state = .done(result)
            return true
        }
        if !isWanted { source.close() }
        // releasing: partner of the acquire in `result`; the source is the capture thread's now.
        isDone.store(true, ordering: .releasing)
    }

    /// Nil while the source is opening; on the capture thread, which owns the source afterwards.
    var result: Result<StreamFormat, CaptureError>? {
        guard isDone.load(ordering: .acquiring) else { return nil }
        return state.withLock { if case .done(let result) = $0 { result } else { nil } }
    }

    /// - Returns: whether the source is the capture thread's; otherwise the opening thread closes
    ///   it.
    func close() -> Bool {
        let isOurs = state.withLock { state in
            if case .done = state { return true }
            state = .abandoned
            return false
        }
        if isOurs { source.close() }
        return isOurs
    }
}
