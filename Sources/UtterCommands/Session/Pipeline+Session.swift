// SPDX-License-Identifier: Apache-2.0

internal import Utter

extension Pipeline {
    /// Whether a recording that the disk has not taken may be written to another place, unasked.
    var mayWriteElsewhere: Bool { spool.map { !$0.encrypts } ?? false }
}
