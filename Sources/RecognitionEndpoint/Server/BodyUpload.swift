// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import NIOCore

struct BodyUpload: Sendable {
    private let queue: BodyQueue
    private let plan: FaultPlan
    private let limit: Int
    private let idleTimeout: Duration
    private let connection: Connection
    private let claim: BodyClaim

    init(
        _ queue: BodyQueue, plan: FaultPlan, claim: BodyClaim,
        configuration: RecognitionEndpointConfiguration, on connection: Connection
    ) {
        self.queue = queue
        self.plan = plan
        self.claim = claim
        limit = configuration.maximumBodyByteCount
        idleTimeout = configuration.idleTimeout
        self.connection = connection
    }

    /// Takes the body until its end, even when it is not needed any more.
    @concurrent func take(_ body: RequestBody) async throws -> BodyIdentity {
        try await withTaskCancellationHandler {
            do {
                return try await forward(body)
            } catch {
                queue.fail(Task.isCancelled ? .shuttingDown : .brokenOff)
                throw error
            }
        } onCancel: {
            queue.fail(.shuttingDown)
        }
    }

    @concurrent private func forward(_ body: RequestBody) async throws -> BodyIdentity {
        var identity = BodyIdentity()
        var hasMisbehaved = false
        var iterator = body.makeAsyncIterator()
        while let buffer = try await next(of: &iterator) {
            let bytes = Array(buffer.readableBytesView)
            identity.add(bytes.span)
            guard identity.byteCount <= limit else {
                queue.fail(.tooLarge(limit: limit))
                continue
            }
            await queue.append(bytes)
            if !hasMisbehaved, identity.byteCount >= plan.byteCount {
                hasMisbehaved = true
                try await misbehave()
            }
        }
        // A cancelled body ends as if it were whole.
        try Task.checkCancellation()
        if !hasMisbehaved { try await misbehave() }
        if !identity.agrees(with: claim.digest) { queue.fail(.digestMismatch) }
        queue.finish()
        return identity
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
        guard plan.action == .close else { return }
        await connection.close()
        throw Connection.End()
    }
}
