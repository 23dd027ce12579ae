// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The program that has started this one as a service, if one has.
package enum ServiceManager {
    /// Tells it how the service fares, as `sd_notify(3)` does; nothing when there is none.
    package static func tell(_ words: String) {
        guard let path = Environment["NOTIFY_SOCKET"], let first = path.first,
            "/@".contains(first)
        else { return }
        // A manager that does not listen does not want to know.
        try? LocalSocket.sendDatagram(words, to: path)
    }
}
