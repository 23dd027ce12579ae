// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// Counts the bytes of a request's body, for an answer that waits for some of them.
final class CassetteUpload: Sendable {
    private struct State {
        var byteCount = 0
        var isComplete = false
        var waiting: [(byteCount: Int, continuation: CheckedContinuation<Void, Never>)] = []

        /// Takes out those whose bytes have come.
        mutating func due() -> [CheckedContinuation<Void, Never>] {
            let due = waiting.filter { isComplete || byteCount >= $0.byteCount }
            waiting.removeAll { isComplete || byteCount >= $0.byteCount }
            return due.map(\.continuation)
        }
    }

    private let state = Mutex(State())

    var byteCount: Int { state.withLock { $0.byteCount } }
    var isComplete: Bool { state.withLock { $0.isComplete } }

    /// Counts bytes.
    func add(_ count: Int) { change { $0.byteCount += count } }

    /// Takes the body to its end, or to where it breaks off.
    @concurrent func take(_ body: RequestBody) async throws {
        // However it ends, nothing waits for more.
        defer { change { $0.isComplete = true } }
        for try await buffer in body { add(buffer.readableBytes) }
    }

    /// Waits until so many bytes have come, or the body is over.
    @concurrent func wait(forBytes count: Int) async {
        await withCheckedContinuation { continuation in
            change { $0.waiting.append((count, continuation)) }
        }
    }

    private func change(_ body: (inout sending State) -> Void) {
        let due = state.withLock { state in
            body(&state)
            return state.due()
        }
        for continuation in due { continuation.resume() }
    }
}
