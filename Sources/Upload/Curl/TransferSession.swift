// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// What the requests of one take share: the cookies that a service sets, and the addresses of hosts
/// that were given instead of asked for.
///
/// It goes with the take; nothing of it is written down. Its content is touched by the transfer
/// thread alone.
@safe package final class TransferSession: @unchecked Sendable {
    private let share: UnsafeMutableRawPointer

    /// Begins without cookies; nil when memory ran out.
    package init?() {
        guard let share = unsafe curl_share_init() else { return nil }
        unsafe self.share = share
        for kind in [CURL_LOCK_DATA_COOKIE, CURL_LOCK_DATA_DNS] {
            guard unsafe utter_share(share, kind) == CURLSHE_OK else {
                unsafe curl_share_cleanup(share)
                return nil
            }
        }
    }

    deinit { unsafe curl_share_cleanup(share) }

    /// The C handle; a transfer that takes part holds this until its own handle is gone.
    var handle: UnsafeMutableRawPointer { unsafe share }
}
