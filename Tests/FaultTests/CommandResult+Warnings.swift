// SPDX-License-Identifier: Apache-2.0

import TestSupport

extension CommandResult {
    var warnings: Int { warningLines.count }

    /// Whether the same was said twice; a disk that is nearly full, and then fails, are two things.
    var isRepetitive: Bool {
        Set(warningLines.map { $0.prefix(25) }).count < warnings
    }

    private var warningLines: [Substring] {
        errorText.split(separator: "\n").filter { $0.contains("warning:") }
    }
}
