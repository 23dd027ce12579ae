// SPDX-License-Identifier: Apache-2.0

package import Settings

/// What a service takes of a recording; nil is no limit.
package struct ServiceLimits: Sendable, Hashable {
    /// The longest recording.
    package var longest: Duration?
    /// The shortest recording.
    package var shortest: Duration?
    /// The most bytes of the audio as it travels.
    package var byteCount: Int?

    /// No limits.
    package init() {}

    /// Reads the table `limits` of a service's description.
    ///
    /// - Throws: `SettingsError` where it is wrong.
    package init(_ reader: inout SettingsReader) throws(SettingsError) {
        longest = try reader.number("seconds").map { Self.duration($0) }
        shortest = try reader.number("shortest-seconds").map { Self.duration($0) }
        byteCount = try reader.integer("bytes")
    }

    /// So many seconds, in whole milliseconds: 2.4 is no binary fraction.
    private static func duration(_ seconds: Double) -> Duration {
        .milliseconds(Int((min(max(0, seconds), 1e9) * 1_000).rounded()))
    }
}
