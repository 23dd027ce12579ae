// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Asks until it is so, as long as tests are patient.
func patiently(_ isSo: @Sendable () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .patience
    while ContinuousClock.now < end {
        if isSo() { return true }
        _ = await Gate().wait(within: .milliseconds(20))
    }
    return false
}
