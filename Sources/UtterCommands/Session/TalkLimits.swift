// SPDX-License-Identifier: Apache-2.0

internal import Utter

extension TalkMachine.Limits {
    /// Those of recordings that end by themselves after so long.
    init(longest: Duration) {
        self.init()
        held = min(held, longest)
        // The recording itself ends with the frame at which it is too long. A little before that
        // the person is warned.
        latched = longest + .seconds(1)
        // Of a few seconds the person knows when they are over.
        warning = longest > .seconds(20) ? warning + .seconds(1) : .zero
    }
}
