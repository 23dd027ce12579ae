// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// A date in a header field (RFC 9110 §5.6.7).
package enum HTTPDate {
    /// Since 1970; nil for a text that is not a date (`curl_getdate`).
    package static func seconds(_ text: String) -> Double? {
        let seconds = unsafe curl_getdate(text, nil)
        return seconds < 0 ? nil : Double(seconds)
    }
}
