// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension Duration {
    /// How long a test waits for what must come: longer than any machine needs, so that only a
    /// hang takes as long.
    ///
    /// `UTTER_PATIENCE` multiplies it, for builds that are slow, such as those of a sanitizer.
    package static let patience: Duration = {
        let factor = getenv("UTTER_PATIENCE").flatMap { Int(String(cString: $0)) } ?? 1
        return .seconds(120) * max(1, factor)
    }()

    /// How long a server does nothing when it is never to go on; the end of the test ends it.
    package static let ages = Duration.seconds(86_400)
}

/// What instruments the tests and the programs that they start.
package enum Sanitizer {
    /// Whether there is one, which `scripts/test.sh` sets options for.
    ///
    /// It takes the signals of a crash for itself, and keeps much memory that was given back.
    package static let isUsed =
        unsafe getenv("TSAN_OPTIONS") != nil || getenv("LSAN_OPTIONS") != nil
}
