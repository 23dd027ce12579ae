// SPDX-License-Identifier: Apache-2.0

@testable import Utter

extension Retention {
    /// As usual, but the audio of an answered take goes at once.
    static var withoutAnsweredAudio: Retention {
        var retention = Retention.standard
        retention.audio = .zero
        return retention
    }
}
