// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore
internal import NIOCore

struct BodyUpload: Sendable {
    let job: RecognitionJob
    let plan: FaultPlan
    let configuration: RecognitionEndpointConfiguration
    let connection: Connection
    /// Is shown a whole body, and may say why it is not to be answered.
    let acceptsEnd: @Sendable (BodyIdentity) -> BodyFailure?

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
        let (limit, time) = (configuration.maximumBodyByteCount, configuration.idleTimeout)
        // A body that stalls is given up, but awaited.
        let alarm: @Sendable () -> Void = { job.fail(.stalled(time)) }
        var identity = BodyIdentity()
        var iterator = body.makeAsyncIterator()
        while let buffer = try await connection.next(of: &iterator, within: time, alarm) {
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

    @concurrent private func closeIfAsked() async throws {
        guard plan.action == .close else { return }
        await connection.close()
        throw Connection.End()
    }
}
