// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// How the endpoint misbehaves for one request, as its `X-Misbehave` header says.
///
/// Only an endpoint whose configuration allows faults reads the header; docs/recogniser.md specifies
/// its words.
struct FaultPlan: Sendable, Equatable {
    enum Action: Sendable, Equatable {
        case none
        case answer(status: Int)
        case close
    }

    var byteCount = 0
    var action = Action.none
    var truncatesAnswer = false

    /// How many more bytes are read before something is done; `read` have been.
    func byteCount(after read: Int) -> Int { action == .none ? .max : max(0, byteCount - read) }

    init() {}

    init(parsing text: String) throws(Refusal) {
        var names: Set<String> = []
        var status: Int?
        for item in text.split(separator: " ") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let (name, value) = (String(parts[0]), parts.dropFirst().first.map(String.init))
            guard names.insert(name).inserted else {
                throw Self.refusal(name, "it is there twice")
            }
            switch name {
            case "after": byteCount = try Self.number(value, of: name, in: 0...Int.max)
            case "status": status = try Self.number(value, of: name, in: 200...599)
            case "close", "truncate-answer":
                guard value == nil else {
                    throw Self.refusal(name, "it takes no value")
                }
            default: throw Self.refusal(name, "it is not known")
            }
        }
        truncatesAnswer = names.contains("truncate-answer")
        if names.contains("close") { action = .close }
        guard let status else { return }
        guard action == .none else { throw Self.refusal("close", "there are two endings") }
        action = .answer(status: status)
    }

    private static func number(
        _ value: String?, of name: String, in range: ClosedRange<Int>
    ) throws(Refusal) -> Int {
        guard let value, !value.isEmpty else { throw refusal(name, "it has no value") }
        guard let number = Int(value), range.contains(number) else {
            throw refusal(name, "'\(value)' is not a number that is possible here")
        }
        return number
    }

    private static func refusal(_ item: String, _ reason: String) -> Refusal {
        Refusal(400, "X-Misbehave: '\(item)': \(reason)")
    }
}

extension RecognitionExchange {
    /// Answers with a status instead of text, where the plan says.
    @concurrent func misbehave(
        _ status: Int, _ plan: FaultPlan, _ writer: consuming ResponseWriter
    ) async throws {
        if plan.byteCount > 0 { try await writer.inviteBody(of: request) }
        var iterator = request.body.makeAsyncIterator()
        var byteCount = 0
        var isWhole = false
        while byteCount < plan.byteCount, !isWhole {
            let buffer = try await iterator.next()
            byteCount += buffer?.readableBytes ?? 0
            isWhole = buffer == nil
        }
        let refusal = Refusal(status, "X-Misbehave asked for status \(status)")
        try await writer.refuse(refusal, closes: !isWhole)
        guard !isWhole else { return }
        let deadline = await connection.linger()
        defer { deadline.cancel() }
        while try await iterator.next() != nil {}
        throw Connection.End()
    }
}
