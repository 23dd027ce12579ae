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
    /// So that the capture thread takes the lock once.
    private let isDone = Atomic(false)

    init(_ source: any CaptureSource) { self.source = source }

    /// Starts a thread that opens the source.
    ///
    /// Does not wait. `tell` is called on that thread when the source is open or cannot be opened.
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

    /// What the source delivers, or why it cannot be opened; nil while that is not known.
    ///
    /// On the capture thread, which owns the source from then on.
    var result: Result<StreamFormat, CaptureError>? {
        guard isDone.load(ordering: .acquiring) else { return nil }
        return state.withLock { if case .done(let result) = $0 { result } else { nil } }
    }

    /// Closes the source, or leaves that to the thread that is still opening it.
    ///
    /// - Returns: whether the source is the capture thread's.
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
