// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import NIOCore

/// Takes a request's body in and hands it to the recogniser's thread.
struct BodyUpload: Sendable {
    private let queue: BodyQueue
    private let plan: FaultPlan
    private let limit: Int
    private let idleTimeout: Duration
    private let connection: Connection
    private let acceptsEnd: @Sendable (BodyIdentity) -> BodyFailure?

    /// Prepares for a body of at most `limit` bytes, whose client may be silent for `idleTimeout`.
    ///
    /// A whole body is shown to `acceptsEnd`, which may say why it is not to be answered.
    init(
        _ queue: BodyQueue, plan: FaultPlan, limit: Int, idleTimeout: Duration,
        on connection: Connection,
        acceptsEnd: @escaping @Sendable (BodyIdentity) -> BodyFailure?
    ) {
        self.queue = queue
        self.plan = plan
        self.limit = limit
        self.idleTimeout = idleTimeout
        self.connection = connection
        self.acceptsEnd = acceptsEnd
    }

    /// Takes the body until its end, even when it is not needed any more.
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
        var iterator = body.makeAsyncIterator()
        while let buffer = try await next(of: &iterator) {
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

    /// Waits for the next bytes; gives the body up, but goes on waiting, when they do not come.
    @concurrent private func next(
        of iterator: inout RequestBody.AsyncIterator
    ) async throws -> ByteBuffer? {
        let alarm = connection.schedule(in: idleTimeout) { [queue, idleTimeout] in
            queue.fail(.stalled(idleTimeout))
        }
        defer { alarm.cancel() }
        return try await iterator.next()
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
