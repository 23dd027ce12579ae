// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// What the threads `notes` and `answers` do: one errand after the other.
///
/// `notes` writes down which requests are about to begin. It writes small files and waits for no `fsync`: neither the sync thread, which a slow disk keeps
/// for seconds, nor a thread on the way of the samples is in its place.
struct NoteWriter: Worker {
    mutating func receive(_ note: @escaping @Sendable () -> Void) { note() }

    mutating func turn(isLast: Bool) -> WorkerPause { .untilWoken }
}
