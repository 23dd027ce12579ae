// SPDX-License-Identifier: Apache-2.0

/// What a final status means for a recording that was posted (RFC 9110 §15).
package enum StatusVerdict: Sendable, Hashable {
    /// 2xx: the answer decides.
    case accepted
    /// 307 and 308: the same request again at another place.
    case redirect
    /// 401 and 403: the token is missing, wrong or not enough.
    case tokenRefused
    case retryable
    case refused
    /// Not a final status: below 200, or 600 and above.
    case unusable

    /// The meaning of a status.
    ///
    /// 301, 302 and 303 are refusals: followed as the RFC allows they would turn the POST into a
    /// GET without the recording. Of 4xx only 408, 425 and 429 say that time helps: 409, 421 and
    /// 423 are refusals, as nothing of ours changes the conflict. 501 and 505 say that the server
    /// will never do it.
    package static func of(status: Int) -> StatusVerdict {
        switch status {
        case 200..<300: .accepted
        case 307, 308: .redirect
        case 401, 403: .tokenRefused
        case 408, 425, 429: .retryable
        case 501, 505: .refused
        case 500..<600: .retryable
        case 300..<500: .refused
        default: .unusable
        }
    }
}
