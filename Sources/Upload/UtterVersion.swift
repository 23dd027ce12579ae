// SPDX-License-Identifier: Apache-2.0

package enum UtterVersion {
    /// As in the change log, such as "0.2.0".
    package static let text = "0.2.0"

    package static let userAgent = (name: "User-Agent", value: "utter/\(text)")
}
