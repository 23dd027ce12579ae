// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

extension Marks {
    /// Takes all marks back, in the order in which they were set.
    package func taken() -> [Mark] {
        var taken: [Mark] = []
        take { taken.append($0) }
        return taken
    }
}
