// SPDX-License-Identifier: Apache-2.0

/// What the disk does to a take.
public enum TakeNotice: Sendable, Equatable {
    /// The take cannot be kept on the disk, and lives in memory; the text says why.
    case unprotected(reason: String)
    /// The disk holds everything again.
    case protectedAgain
    /// A part of a take of an earlier run is silent, because its encrypted audio was altered or
    /// damaged; the text says how much.
    case damaged(report: String)
    /// The disk has no room to give away; so many bytes are left, nil when unknown.
    case diskNearlyFull(freeByteCount: Int?, reason: String)
    /// The disk took this long: a power cut would have cost as much.
    case slowDisk(Duration)
    /// The service takes no longer recording than `limit`, which is reached after the rest.
    case limitNear(rest: Duration, limit: Duration)
    /// The recording ended, and is sent: the service takes no longer one.
    case limitReached(Duration)
    /// The recording ended before it was asked to, since there was no room for more.
    case cutShort(reason: String)
}
