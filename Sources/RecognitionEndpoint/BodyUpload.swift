// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import NIOCore

/// Takes a request's body in and hands it to the recogniser's thread.
struct BodyUpload: Sendable {
    private let queue: BodyQueue
    private let plan: FaultPlan
    private let limit: Int
    private let connection: Connection

    /// Prepares for a body of at most `limit` bytes.
    init(_ queue: BodyQueue, plan: FaultPlan, limit: Int, on connection: Connection) {
        self.queue = queue
        self.plan = plan
        self.limit = limit
        self.connection = connection
    }

    /// Takes the body until its end, even when nobody needs it any more.
    ///
    /// - Throws: what the connection says when it broke off, or `CancellationError`.
    @concurrent func take(_ body: RequestBody) async throws {
        try await withTaskCancellationHandler {
            do {
                try await forward(body)
            } catch {
                queue.fail(Task.isCancelled ? .shuttingDown : .brokenOff)
                throw error
            }
        } onCancel: {
            queue.fail(.shuttingDown)
        }
    }

    @concurrent private func forward(_ body: RequestBody) async throws {
        var byteCount = 0
        var hasMisbehaved = false
        for try await buffer in body {
            byteCount += buffer.readableBytes
            guard byteCount <= limit else {
                queue.fail(.tooLarge(limit: limit))
                continue
            }
            await queue.append(Array(buffer.readableBytesView))
            if !hasMisbehaved, byteCount >= plan.byteCount {
                hasMisbehaved = true
                try await misbehave()
            }
        }
        // A cancelled body ends as if it were whole.
        try Task.checkCancellation()
        if !hasMisbehaved { try await misbehave() }
        queue.finish()
    }

    @concurrent private func misbehave() async throws {
        if let stall = plan.stall { try await Task.sleep(for: stall) }
        switch plan.action {
        case .none, .answer:
            return
        case .close:
            await connection.close()
        case .reset:
            await connection.reset()
        }
        throw Connection.End()
    }
}
