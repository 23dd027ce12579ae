// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import NIOCore

/// Takes a request's body in and hands it to the recogniser's thread.
struct BodyUpload: Sendable {
    private let queue: BodyQueue
    private let plan: FaultPlan
    private let limit: Int
    private let connection: Connection
    private let acceptsEnd: @Sendable (BodyIdentity) -> BodyFailure?

    /// Prepares for a body of at most `limit` bytes.
    ///
    /// A whole body is shown to `acceptsEnd`, which may say why it is not to be answered.
    init(
        _ queue: BodyQueue, plan: FaultPlan, limit: Int, on connection: Connection,
        acceptsEnd: @escaping @Sendable (BodyIdentity) -> BodyFailure?
    ) {
        self.queue = queue
        self.plan = plan
        self.limit = limit
        self.connection = connection
        self.acceptsEnd = acceptsEnd
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
        var identification = BodyIdentification()
        var hasMisbehaved = false
        for try await buffer in body {
            let bytes = Array(buffer.readableBytesView)
            identification.update(bytes.span)
            guard identification.byteCount <= limit else {
                queue.fail(.tooLarge(limit: limit))
                continue
            }
            await queue.append(bytes)
            if !hasMisbehaved, identification.byteCount >= plan.byteCount {
                hasMisbehaved = true
                try await misbehave()
            }
        }
        // A cancelled body ends as if it were whole.
        try Task.checkCancellation()
        if !hasMisbehaved { try await misbehave() }
        if let failure = acceptsEnd(identification.identity) { queue.fail(failure) }
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
