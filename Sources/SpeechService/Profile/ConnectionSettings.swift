// SPDX-License-Identifier: Apache-2.0

package import Settings

/// How connections to a service are made, where that differs from the usual.
package struct ConnectionSettings: Sendable, Hashable {
    /// The usual.
    package init() {}

    /// Reads the table `connection` of a service's description.
    ///
    /// - Throws: `SettingsError` where it is wrong.
    package init(_ reader: inout SettingsReader) throws(SettingsError) {}
}
