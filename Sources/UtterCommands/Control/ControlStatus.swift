// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// What the program that owns the socket does at the moment.
struct ControlStatus: Codable, Sendable, Equatable {
    /// As much of what is heard so far is told: its end.
    static let textLimit = 2_000

    var phase = Dictation.Phase.idle
    /// The newest take that has not ended; nil when there is none.
    var take: String?
    var elapsedMs = 0
    /// How loud the last 20 ms were, in dBFS; nil when nothing is recorded.
    var level: Double?
    /// The end of what is heard so far.
    var text = ""
    /// Whether a daemon answers, which goes on without a take.
    var isDaemon = false
    var process: Int32?

    /// The same with what has been heard.
    mutating func hear(_ heard: String) { text = String(heard.suffix(Self.textLimit)) }
}
