// SPDX-License-Identifier: Apache-2.0

/// How the endpoint misbehaves for one request, as its `X-Misbehave` header says.
///
/// Only an endpoint whose configuration allows faults reads the header. Its value is a list of
/// items separated by spaces, each at most once, in any order:
///
/// | item | effect |
/// | --- | --- |
/// | `after=N` | act when N bytes of the body were read, or at its end; 0 without this item |
/// | `stall=2s` | read nothing for this long at that place, then go on |
/// | `status=503` | answer this status (200 to 599) at that place instead of text |
/// | `redirect=URL` | answer with this `Location`; 307 without `status` |
/// | `retry-after=5` | add `Retry-After` to that answer; needs `status` |
/// | `stop-reading` | with that answer, do not read the rest of the body, and hold the connection |
/// | `close` | close the connection at that place (FIN) without a final text |
/// | `reset` | reset the connection at that place (RST) without a final text |
/// | `delay=500ms` | wait this long before the head of whatever is answered |
/// | `truncate-answer` | send half of the final text, no last chunk, and close |
///
/// Times are whole numbers of `ms` or `s`, at most ten minutes. `status`, `redirect`, `close` and
/// `reset` exclude one another, except that `redirect` goes with a `status`.
struct FaultPlan: Sendable, Equatable {
    /// What happens when `byteCount` bytes have been read.
    enum Action: Sendable, Equatable {
        case none
        case answer(Answer)
        case close
        case reset
    }

    struct Answer: Sendable, Equatable {
        var status: Int
        var location: String?
        var retryAfter: Int?
        var stopsReading = false
    }

    /// How many bytes of the body are read before the action.
    var byteCount = 0

    var stall: Duration?

    var action = Action.none

    var delay: Duration?

    var truncatesAnswer = false

    init() {}

    /// Reads the value of `X-Misbehave`.
    init(parsing text: String) throws(FaultPlanError) {
        var items = try Self.items(in: text)
        byteCount = try Self.number(&items, "after", in: 0...Int.max) ?? 0
        stall = try Self.duration(&items, "stall")
        delay = try Self.duration(&items, "delay")
        truncatesAnswer = try Self.flag(&items, "truncate-answer")
        action = try Self.action(&items)
        guard let unknown = items.keys.sorted().first else { return }
        throw FaultPlanError(item: unknown, reason: "it is not known")
    }

    private static func action(
        _ items: inout [String: String?]
    ) throws(FaultPlanError) -> Action {
        let closes = try flag(&items, "close")
        let resets = try flag(&items, "reset")
        let status = try number(&items, "status", in: 200...599)
        let location = try value(&items, "redirect")
        let answers = status != nil || location != nil
        guard [closes, resets, answers].count(where: { $0 }) <= 1 else {
            throw FaultPlanError(item: "close", reason: "there are two endings")
        }
        let retryAfter = try number(&items, "retry-after", in: 0...86_400)
        let stopsReading = try flag(&items, "stop-reading")
        guard answers else {
            guard retryAfter == nil, !stopsReading else {
                throw FaultPlanError(item: "status", reason: "it is missing")
            }
            return closes ? .close : resets ? .reset : .none
        }
        return .answer(
            Answer(
                status: status ?? 307, location: location, retryAfter: retryAfter,
                stopsReading: stopsReading))
    }

    // MARK: - Items

    private static func items(in text: String) throws(FaultPlanError) -> [String: String?] {
        var items: [String: String?] = [:]
        for item in text.split(separator: " ") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts.first ?? "")
            guard items[name] == nil else {
                throw FaultPlanError(item: name, reason: "it is there twice")
            }
            items[name] = .some(parts.count > 1 ? String(parts[1]) : nil)
        }
        return items
    }

    private static func value(
        _ items: inout [String: String?], _ name: String
    ) throws(FaultPlanError) -> String? {
        guard let item = items.removeValue(forKey: name) else { return nil }
        guard let value = item, !value.isEmpty else {
            throw FaultPlanError(item: name, reason: "it has no value")
        }
        return value
    }

    private static func flag(
        _ items: inout [String: String?], _ name: String
    ) throws(FaultPlanError) -> Bool {
        guard let item = items.removeValue(forKey: name) else { return false }
        guard item == nil else { throw FaultPlanError(item: name, reason: "it takes no value") }
        return true
    }

    private static func number(
        _ items: inout [String: String?], _ name: String, in range: ClosedRange<Int>
    ) throws(FaultPlanError) -> Int? {
        guard let value = try value(&items, name) else { return nil }
        guard let number = Int(value), range.contains(number) else {
            let reason = "'\(value)' is not a number that is possible here"
            throw FaultPlanError(item: name, reason: reason)
        }
        return number
    }

    private static func duration(
        _ items: inout [String: String?], _ name: String
    ) throws(FaultPlanError) -> Duration? {
        guard let value = try value(&items, name) else { return nil }
        let isInMilliseconds = value.hasSuffix("ms")
        let digits = isInMilliseconds ? value.dropLast(2) : value.dropLast()
        guard isInMilliseconds || value.hasSuffix("s"), let number = Int(digits),
            (0...600_000).contains(number)
        else {
            throw FaultPlanError(item: name, reason: "'\(value)' is not a time such as 2s or 50ms")
        }
        let duration = isInMilliseconds ? Duration.milliseconds(number) : .seconds(number)
        return min(duration, .seconds(600))
    }
}

struct FaultPlanError: Error, Equatable {
    let item: String
    let reason: String

    var description: String { "X-Misbehave: '\(item)': \(reason)" }
}
