// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// Hands the bytes of one body from the connection's task to the recogniser's thread.
///
/// Holds at most `capacity` bytes and one chunk more: a full queue suspends the task, so that
/// TCP's window closes and the client waits. One task appends, one thread takes.
final class BodyQueue: Sendable {
    enum Taken: Sendable {
        case bytes([UInt8])
        case end
        /// There will be no more, and the recognition is to be given up.
        case failed(BodyFailure)
    }

    private struct State {
        var chunks: [[UInt8]] = []
        var byteCount = 0
        var ending: Taken?
        var isClosed = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let capacity: Int
    private let state = Mutex(State())
    private let wakeup: Wakeup

    init(capacity: Int = 262_144) throws(SystemError) {
        self.capacity = capacity
        wakeup = try Wakeup()
    }

    // MARK: - The connection's task

    /// Appends bytes, and waits until there is space for more.
    func append(_ bytes: [UInt8]) async {
        let isFull = state.withLock { state in
            guard !state.isClosed, state.ending == nil else { return false }
            state.chunks.append(bytes)
            state.byteCount += bytes.count
            return state.byteCount >= capacity
        }
        wakeup.signal()
        guard isFull else { return }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isClosed || state.ending != nil || state.byteCount < capacity {
                    return true
                }
                state.waiter = continuation
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Says that the body is whole; called from any thread.
    func finish() {
        end(.end)
    }

    /// Gives the recognition up; what has not been taken is dropped.
    ///
    /// From any thread.
    func fail(_ failure: BodyFailure) {
        end(.failed(failure))
    }

    private func end(_ ending: Taken) {
        let waiter = state.withLock { state in
            guard state.ending == nil else { return state.waiter.take() }
            state.ending = ending
            return state.waiter.take()
        }
        waiter?.resume()
        wakeup.signal()
    }

    // MARK: - The recogniser's thread

    /// Waits for bytes or an end, and takes them; blocks.
    func take() -> Taken {
        while true {
            let (taken, waiter) = state.withLock { state in takeNow(&state) }
            waiter?.resume()
            if let taken { return taken }
            wakeup.wait()
        }
    }

    /// Says that nothing more will be taken: bytes that still come are dropped.
    func close() {
        let waiter = state.withLock { state in
            state.isClosed = true
            state.chunks = []
            state.byteCount = 0
            return state.waiter.take()
        }
        waiter?.resume()
    }

    private func takeNow(
        _ state: inout State
    ) -> (Taken?, CheckedContinuation<Void, Never>?) {
        if case .failed = state.ending { return (state.ending, state.waiter.take()) }
        guard !state.chunks.isEmpty else { return (state.ending, nil) }
        let bytes = state.chunks.removeFirst()
        state.byteCount -= bytes.count
        return (.bytes(bytes), state.byteCount < capacity ? state.waiter.take() : nil)
    }
}

extension Wakeup {
    /// Blocks until the next signal, and takes it back.
    func wait() {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // An interrupted wait looks like a signal without news, which the callers expect.
        _ = unsafe Glibc.poll(&poll, 1, -1)
        drain()
    }
}
