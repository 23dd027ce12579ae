// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import SpeechService

/// The cookies that a take's requests share: no other origin gets those that an origin sets.
///
/// libcurl would hand them to each port of a host, as RFC 6265 §8.5 warns, and to http what https has
/// set. It goes with the take; nothing of it is written down. Its content is touched by the transfer
/// thread alone.
package final class TransferSession: @unchecked Sendable {
    private var jars: [Origin: CookieJar] = [:]

    package init() {}

    func jar(for url: String) -> CookieJar? {
        // No request is sent to a URL that libcurl refuses.
        guard let origin = try? ServiceURL(url).origin else { return nil }
        if let known = jars[origin] { return known }
        let jar = CookieJar()
        jars[origin] = jar
        return jar
    }
}

/// The cookies of one origin, and addresses of hosts that were given instead of looked up.
@safe final class CookieJar {
    /// A transfer keeps the jar until its own handle is gone.
    let handle: UnsafeMutableRawPointer

    /// Makes an empty jar; nil when memory ran out.
    init?() {
        guard let share = unsafe curl_share_init() else { return nil }
        unsafe handle = share
        for kind in [CURL_LOCK_DATA_COOKIE, CURL_LOCK_DATA_DNS] {
            guard unsafe utter_share(share, kind) == CURLSHE_OK else { return nil }
        }
    }

    deinit { unsafe curl_share_cleanup(handle) }
}
