// SPDX-License-Identifier: Apache-2.0

/// Decides when a connection that waits for the next take is used again, so that the service does
/// not close it.
///
/// How long a service leaves one open it says seldom, so that it is found out: a wait that the
/// connection has survived is doubled, one that it has not is never tried again. Pure.
struct WarmthSchedule: Equatable {
    /// Many services close a connection that was idle for 5 s.
    static let shortest = Duration.seconds(4)
    /// Longer than most services leave one open.
    static let longest = Duration.seconds(32)
    /// So long the service is left alone when it keeps no connection open, or cannot be reached.
    static let rest = Duration.seconds(300)
    /// As many connections in vain are enough to know that.
    private static let attemptLimit = 3

    /// How long to wait before the connection is used again.
    private(set) var wait = shortest
    private var ceiling = longest
    /// Connections that did not outlive the last waits.
    private var losses = 0
    private var isFirst = true

    enum Finding: Equatable {
        case kept
        case lost
        case failed
    }

    /// How long the connection may have been idle when a take uses it.
    var longestIdleTime: Duration { wait + .seconds(1) }

    /// Takes note of what came of a use.
    ///
    /// - Parameters:
    ///   - finding: whether the connection was kept.
    ///   - limit: how long the service says that it leaves one open, or nil.
    mutating func note(_ finding: Finding, limit: Duration?) {
        if let limit { ceiling = min(ceiling, max(Self.shortest, limit - .seconds(1))) }
        defer { isFirst = false }
        switch finding {
        case .kept:
            losses = 0
            wait = min(wait == Self.rest ? Self.shortest : wait * 2, ceiling)
        case .lost where isFirst: break
        case .lost:
            losses += 1
            ceiling = max(Self.shortest, min(ceiling, wait) / 2)
            wait = losses < Self.attemptLimit ? min(wait, ceiling) : Self.rest
        case .failed: wait = Self.rest
        }
    }

    /// How long the connection stays open by the field `Keep-Alive: timeout=5, max=100` (RFC 2068
    /// §19.7.1.1); nil when that does not say.
    static func limit(of field: String) -> Duration? {
        for parameter in field.split(separator: ",") {
            let parts = parameter.split(separator: "=").map { $0.filter { $0 != " " } }
            guard parts.count == 2, parts[0].lowercased() == "timeout", let seconds = Int(parts[1]),
                (1...86_400).contains(seconds)
            else { continue }
            return .seconds(seconds)
        }
        return nil
    }
}
