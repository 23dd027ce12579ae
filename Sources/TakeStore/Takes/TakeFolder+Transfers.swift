// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// What the disk knows of transfers that have begun since the manifest was written last.
///
/// Making a manifest durable may take a slow disk seconds, and what was durable before must not
/// be replaced by what is not. So the thread that begins a transfer writes a second file beside
/// `take.json`, `take.json.begun`, of the same form, and waits for nothing: it is there when the
/// program is killed. It counts as far as it knows of more transfers than `take.json`.
extension TakeFolder {
    /// Notes which transfers have begun.
    ///
    /// Does not wait for the disk. By one thread at a time, which need not be the one that saves
    /// the manifest.
    package func noteTransfers(of manifest: TakeManifest) throws(SystemError) {
        var note = manifest
        // Of an earlier answer, which says nothing of these transfers.
        if !note.isLocked { note.transcript = nil }
        try folder.replaceFile(Self.notedName, with: try encoded(note), isDurable: false)
    }

    /// Adds to a manifest the transfers that it does not know.
    ///
    /// Nothing else of the note counts: what it says of the audio may not be durable.
    package func addNotedTransfers(to manifest: inout TakeManifest) {
        // Most takes have none; one that a power cut has torn says nothing.
        guard let note = try? self.manifest(in: Self.notedName), note.attempts > manifest.attempts
        else { return }
        manifest.attempts = note.attempts
        manifest.history = note.history
        manifest.taken = note.taken
        manifest.progress = note.progress
    }

    package func forgetNotedTransfers() {
        for name in [Self.notedName, Self.notedName + Self.newSuffix] {
            // A note that stays says nothing new.
            try? folder.removeFile(name)
        }
    }
}
