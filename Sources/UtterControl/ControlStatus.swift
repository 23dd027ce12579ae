// SPDX-License-Identifier: Apache-2.0

package import Utter

/// What the program that owns the socket does at the moment.
package struct ControlStatus: Codable, Sendable, Equatable {
    /// As much of what is heard so far is told: its end.
    static let textLimit = 2_000

    package var phase = Dictation.Phase.idle
    /// The newest take that has not ended; nil when there is none.
    package var take: String?
    package var elapsedMs = 0
    /// How loud the last 20 ms were, in dBFS; nil when nothing is recorded.
    package var level: Double?
    /// The end of what is heard so far.
    package var text = ""
    /// Whether a daemon answers, which goes on without a take.
    package var isDaemon = false
    var process: Int32?

    package init() {}

    /// The same with what has been heard.
    mutating func hear(_ heard: String) { text = String(heard.suffix(Self.textLimit)) }
}
