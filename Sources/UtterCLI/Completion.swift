// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

extension CompletionKind {
    /// The short names of the takes on the disk; what is no take has a hyphen there.
    static var takes: CompletionKind {
        .shellCommand("utter list 2>/dev/null | cut -d' ' -f1 | grep -v '^-'; echo last")
    }

    /// The names of the microphones.
    static var microphones: CompletionKind {
        .shellCommand("utter devices 2>/dev/null | cut -d' ' -f1")
    }

    /// The names of the loudspeakers.
    static var loudspeakers: CompletionKind {
        .shellCommand("utter devices --playback 2>/dev/null | cut -d' ' -f1")
    }
}
