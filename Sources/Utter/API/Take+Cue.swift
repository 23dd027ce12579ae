// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import TakeStore

extension Take {
    /// Says that a sound of the program's own is about to be played, which the microphone may hear.
    ///
    /// It is sent as silence, and nothing behind its beginning is sent before `endCue`. The span is
    /// known to the disk at once: a killed program sends no cue either.
    package func beginCue() {
        guard let journal = run.journal else { return }
        journal.cues.begin(at: run.capturedFrames)
        run.record?.save { $0.setCues(journal.cues.all) }
    }

    /// Says that the sound was played.
    ///
    /// - Parameter echo: how long it may be heard after that.
    package func endCue(after echo: Duration) {
        guard let journal = run.journal else { return }
        journal.cues.end(at: run.capturedFrames + StreamFormat.speech.frames(in: echo))
        run.record?.save { $0.setCues(journal.cues.all) }
    }
}

extension TakeRun {
    /// The length of the recording so far, in frames at 16 kHz, gaps included.
    fileprivate var capturedFrames: Int { account.capturedFrames + account.gapFrames }
}
