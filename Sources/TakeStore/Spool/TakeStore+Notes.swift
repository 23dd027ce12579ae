// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// Small files beside the takes, each of which can be lost without harm.
extension TakeStore {
    /// What a small file holds.
    package enum Note: String, Sendable {
        /// The origins whose services want the length of a body.
        case lengthOrigins = "length-origins"
        /// Tokens that were fetched for secrets, and are good for a time.
        case tokens
        /// The salt with which a passphrase is stretched for new takes, so that all are opened after
        /// one derivation; each take knows its own.
        case passphraseSalt = "passphrase-salt"
        /// The takes that were made of a person's own files, and could not be delivered.
        case takesOfFiles = "takes-of-files"
        /// The takes that have audio; see `AudioNote`.
        case audio = "takes-with-audio"
    }

    /// The note of 100,000 takes with audio.
    private static let noteLimit = 4 << 20

    /// Reads a note; empty when there is none, or none that can be read.
    package func note(_ note: Note) -> [UInt8] {
        // As for all that can be lost.
        (try? state.contents(of: note.rawValue, limit: Self.noteLimit)) ?? []
    }

    /// Replaces a note by what becomes of it; no line of another process that does so is lost.
    ///
    /// Blocks on the disk, and for two seconds at most on that process.
    package func change(_ note: Note, _ body: ([UInt8]) -> [UInt8]) {
        // Without the lock, lines may be lost.
        let own = try? state.openFolder(".")
        _ = try? own?.lock(until: .now + .seconds(2))  // As above.
        self.note(body(self.note(note)), as: note)
        own?.unlock()
    }

    /// Replaces a note.
    ///
    /// Blocks on the disk; a failure loses the note.
    package func note(_ bytes: [UInt8], as note: Note) {
        // As above.
        try? state.replaceFile(note.rawValue, with: bytes)
    }
}
