// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

extension CompletionKind {
    /// The short names of the takes on the disk; an entry that is not a take has a hyphen there.
    static var takes: CompletionKind {
        .shellCommand("utter list 2>/dev/null | cut -d' ' -f1 | grep -v '^-'; echo last")
    }

    /// The names of the takes that wait for an answer, and what stands for them.
    static var waitingTakes: CompletionKind {
        .shellCommand("utter list --waiting 2>/dev/null | cut -d' ' -f1; echo last; echo all")
    }

    static var services: CompletionKind {
        .shellCommand("utter services 2>/dev/null | cut -d' ' -f1")
    }

    /// The fields of profiles, to be followed by a value.
    static var fields: CompletionKind {
        .shellCommand("utter services fields --keys 2>/dev/null")
    }

    static var microphones: CompletionKind {
        .shellCommand("utter devices --names 2>/dev/null")
    }

    static var loudspeakers: CompletionKind {
        .shellCommand("utter devices --playback --names 2>/dev/null")
    }
}
