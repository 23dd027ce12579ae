// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Whether a program takes work; from any thread.
package final class Readiness: Sendable {
    private let state = Mutex<String?>("it is starting")

    package init() {}

    /// Why it takes none, in one line; nil when it does.
    package var obstacle: String? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    package static let ending = "it is ending"
}
