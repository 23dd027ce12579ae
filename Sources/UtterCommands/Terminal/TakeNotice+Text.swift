// SPDX-License-Identifier: Apache-2.0

package import Utter

extension TakeNotice {
    package var text: String {
        switch self {
        case .unprotected(let reason):
            return "not protected: this take lives in memory only: \(reason)"
        case .protectedAgain:
            return "protected again: the disk holds the whole take"
        case .damaged(let report):
            return "not whole: \(report)"
        case .diskNearlyFull(let free, let reason):
            let left = free.map { ", \(StatusLine.size($0)) left" } ?? ""
            return "the disk is nearly full\(left): \(reason)"
        case .slowDisk(let wait):
            return "the disk is slow: a power cut would have cost the last "
                + StatusLine.seconds(wait)
        case .limitNear(let rest, let limit):
            return "\(rest.secondsText) are left: the service takes "
                + "\(limit.secondsText) at most"
        case .limitReached(let limit):
            return "the recording ends and is sent: the service takes "
                + "\(limit.secondsText) at most"
        case .cutShort(let reason):
            return "the recording was ended: \(reason)"
        }
    }
}
