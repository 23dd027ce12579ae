// SPDX-License-Identifier: Apache-2.0

internal import CLinux

/// The machine code that this process has mapped.
public enum ProgramText {
    /// Takes every page of code out of the resident set; those still needed come back from the
    /// page cache, by a minor fault each.
    ///
    /// Starting a Swift program and loading libcurl's twenty libraries touches far more code
    /// than a take then uses. From any thread; takes some tens of microseconds. The
    /// corresponding C functions are `dl_iterate_phdr` and `madvise` with `MADV_DONTNEED`, which
    /// is harmless for pages that nobody can write.
    public static func releasePages() { utter_release_text() }
}
