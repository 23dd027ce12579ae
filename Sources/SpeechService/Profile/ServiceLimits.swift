// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// What a service takes of a recording; nil is no limit.
package struct ServiceLimits: Sendable, Hashable {
    package var longest: Duration?
    package var shortest: Duration?
    /// The most bytes of the audio as it travels.
    package var byteCount: Int?

    init() {}

    /// Reads the table `limits` of a service's description.
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        longest = try reader.seconds("seconds", upTo: Self.limit)
        shortest = try reader.seconds("shortest-seconds", upTo: Self.limit, allowsZero: true)
        byteCount = try reader.integer("bytes")
        if let byteCount, byteCount <= 0 {
            throw SettingsError(
                "'\(reader.path("bytes"))' must be above 0", at: reader.place("bytes"))
        }
    }

    /// A month, in seconds.
    private static let limit = 30 * 86_400
}
