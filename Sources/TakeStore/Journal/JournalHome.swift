// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// Where a journal that cannot trust its file any more gets a new one.
///
/// Both are called on the sync thread and block on the disk.
struct JournalHome: Sendable {
    /// Creates an empty file beside the audio.
    let makeFile: @Sendable () throws(SystemError) -> any JournalFile
    /// Puts the file that was made last in the place of the audio, durably.
    let replaceAudio: @Sendable () throws(SystemError) -> Void
}
