// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// One request that is answered as its fault plan says instead of with text.
struct MisbehavingExchange {
    private let request: Request
    private let plan: FaultPlan
    private let connection: Connection

    init(_ request: Request, plan: FaultPlan, on connection: Connection) {
        self.request = request
        self.plan = plan
        self.connection = connection
    }

    /// Reads as much as the plan says, and answers.
    @concurrent func answer(_ writer: consuming ResponseWriter) async throws {
        guard case .answer(let answer) = plan.action else { return }
        if plan.byteCount > 0 { try await writer.inviteBody(of: request) }
        var iterator = request.body.makeAsyncIterator()
        var byteCount = 0
        var isWhole = false
        while byteCount < plan.byteCount, !isWhole {
            let buffer = try await iterator.next()
            byteCount += buffer?.readableBytes ?? 0
            isWhole = buffer == nil
        }
        if let stall = plan.stall { try await Task.sleep(for: stall) }
        if let delay = plan.delay { try await Task.sleep(for: delay) }
        try await writer.refuse(Self.refusal(answer), closes: !isWhole)
        if answer.stopsReading { try await Task.sleep(for: Self.holdTime) }
        guard !isWhole else { return }
        let deadline = await connection.linger()
        defer { deadline.cancel() }
        while try await iterator.next() != nil {}
        throw Connection.End()
    }

    private static func refusal(_ answer: FaultPlan.Answer) -> Refusal {
        var refusal = Refusal(answer.status, "X-Misbehave asked for status \(answer.status)")
        refusal.fields[.location] = answer.location
        refusal.fields[.retryAfter] = answer.retryAfter.map(String.init)
        return refusal
    }

    /// How long a connection is held that is not read any more.
    private static let holdTime = Duration.seconds(30)
}

extension FaultPlan {
    var endsInAnswer: Bool {
        if case .answer = action { true } else { false }
    }
}
