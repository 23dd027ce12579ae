// SPDX-License-Identifier: Apache-2.0

/// Why a file of settings cannot be used: what is wrong, and where.
package struct SettingsError: Error, Sendable, Equatable {
    /// The longest reason that is said, which may repeat what the file says.
    private static let limit = 400

    /// Where; nil for what is not there.
    package var place: SettingsPlace?
    package var reason: String

    package init(_ reason: String, at place: SettingsPlace? = nil) {
        self.reason = reason
        self.place = place
    }

    /// The error behind the name of its file, as compilers write it; `file` is its name, unless the
    /// place has another.
    package func text(of file: String) -> String {
        let reason = reason.count > Self.limit ? "\(reason.prefix(Self.limit))…" : reason
        guard let place else { return "\(file): \(reason)" }
        return "\(place.file ?? file):\(place.line):\(place.column): \(reason)"
    }
}
