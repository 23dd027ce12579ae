// SPDX-License-Identifier: Apache-2.0

package import Settings

/// Which requests deliver a recording to a service.
package enum ExchangePlan: Sendable, Hashable {
    /// One that carries the recording, and whose answer is the transcript.
    case post

    /// Reads the table `exchange` of a service's description.
    ///
    /// - Throws: `SettingsError` where it is wrong.
    package init(_ reader: inout SettingsReader) throws(SettingsError) {
        self = .post
    }
}
