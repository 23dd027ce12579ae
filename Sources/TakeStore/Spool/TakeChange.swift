// SPDX-License-Identifier: Apache-2.0

/// What a person wants to become of a take on the disk.
package enum TakeChange: String, Sendable {
    case remove = "removed"
    case restore = "brought back"
}
