// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore
internal import NIOCore

struct BodyUpload: Sendable {
    private let job: RecognitionJob
    private let plan: FaultPlan
    private let limit: Int
    private let idleTimeout: Duration
    private let connection: Connection
    private let acceptsEnd: @Sendable (BodyIdentity) -> BodyFailure?

    /// A whole body is shown to `acceptsEnd`, which may say why it is not to be answered.
    init(
        _ job: RecognitionJob, plan: FaultPlan, configuration: RecognitionEndpointConfiguration,
        on connection: Connection,
        acceptsEnd: @escaping @Sendable (BodyIdentity) -> BodyFailure?
    ) {
        self.job = job
        self.plan = plan
        self.acceptsEnd = acceptsEnd
        limit = configuration.maximumBodyByteCount
        idleTimeout = configuration.idleTimeout
        self.connection = connection
    }

    /// Takes the body until its end, even when it is not needed any more.
    @concurrent func take(_ body: RequestBody) async throws {
        try await withTaskCancellationHandler {
            do {
                try await forward(body)
            } catch {
                job.fail(Task.isCancelled ? .shuttingDown : .brokenOff)
                throw error
            }
        } onCancel: {
            job.fail(.shuttingDown)
        }
    }

    @concurrent private func forward(_ body: RequestBody) async throws {
        var identity = BodyIdentity()
        var iterator = body.makeAsyncIterator()
        while let buffer = try await next(of: &iterator) {
            let bytes = Array(buffer.readableBytesView)
            identity.add(bytes.span)
            guard identity.byteCount <= limit else {
                job.fail(.tooLarge(limit: limit))
                continue
            }
            await job.body.append(bytes)
            if identity.byteCount >= plan.byteCount { try await closeIfAsked() }
        }
        // A cancelled body ends as if it were whole.
        try Task.checkCancellation()
        try await closeIfAsked()
        if let failure = acceptsEnd(identity) { job.fail(failure) }
        job.body.finish()
    }

    /// Waits for the next bytes; gives the body up, but goes on waiting, when they do not come.
    @concurrent private func next(
        of iterator: inout RequestBody.AsyncIterator
    ) async throws -> ByteBuffer? {
        let alarm = connection.schedule(in: idleTimeout) { [job, idleTimeout] in
            job.fail(.stalled(idleTimeout))
        }
        defer { alarm.cancel() }
        return try await iterator.next()
    }

    @concurrent private func closeIfAsked() async throws {
        guard plan.action == .close else { return }
        await connection.close()
        throw Connection.End()
    }
}
