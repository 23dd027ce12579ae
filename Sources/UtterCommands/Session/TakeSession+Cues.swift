// SPDX-License-Identifier: Apache-2.0

extension TakeSession {
    /// What plays the tones of a recording; nil when none are wanted.
    func makeCues(for activity: Activity, warning: @escaping @Sendable (String) -> Void)
        -> CuePlayer?
    {
        guard output.cue, !activity.isSending else { return nil }
        // Without a thread there is no tone, which is no reason not to record.
        return try? CuePlayer(say: warning)
    }
}
