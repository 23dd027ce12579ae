// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What instruments the tests and the programs that they start.
package enum Sanitizer {
    /// Whether there is one, which `scripts/test.sh` sets options for.
    ///
    /// It takes the signals of a crash for itself, and keeps much memory that was given back.
    package static let isUsed =
        unsafe getenv("TSAN_OPTIONS") != nil || getenv("LSAN_OPTIONS") != nil
}
