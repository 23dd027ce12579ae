// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import TakeStore

/// How safe a take is on the disk, and what of that a person has to hear.
///
/// Pure: told what journal, manifest and folder are like, it says what has changed.
struct Protection {
    /// Why there is no folder at all; that never changes.
    private var folder: String?
    private var journal = JournalCondition()
    private var manifest: String?
    /// Why the recording had to end, or nil when it had not.
    private(set) var endReason: String?
    /// What a person was told, in order; the newest.
    private(set) var notices: [TakeNotice] = []

    /// Why the take is not safe on the disk, or nil when it is.
    var unprotected: String? { folder ?? journal.failure?.description ?? manifest }

    /// Whether nothing but the manifest keeps the take from being safe.
    var isManifestStale: Bool { manifest != nil && folder == nil && journal.failure == nil }

    /// There is no folder, for this reason.
    mutating func noteNoFolder(_ reason: String) -> [TakeNotice] {
        change { $0.folder = reason }
    }

    /// The manifest could not be written, or nil when it could.
    mutating func note(manifest reason: String?) -> [TakeNotice] {
        change { $0.manifest = reason }
    }

    /// The journal's condition is this now.
    mutating func note(_ condition: JournalCondition) -> [TakeNotice] {
        change { $0.journal = condition }
    }

    /// A part of a take of an earlier run is lost.
    mutating func note(damage report: String) -> [TakeNotice] { tell([.damaged(report: report)]) }

    /// The recording has to end, for this reason; the first one counts.
    mutating func noteEnd(_ reason: String) -> [TakeNotice] {
        guard endReason == nil else { return [] }
        endReason = reason
        return tell([.cutShort(reason: reason)])
    }

    private mutating func change(_ body: (inout Protection) -> Void) -> [TakeNotice] {
        let before = self
        body(&self)
        var new: [TakeNotice] = []
        if let reason = unprotected, before.unprotected == nil {
            new.append(.unprotected(reason: reason))
        }
        if unprotected == nil && before.unprotected != nil { new.append(.protectedAgain) }
        if let shortage = journal.shortage, before.journal.shortage == nil {
            new.append(
                .diskNearlyFull(
                    freeByteCount: shortage.freeByteCount, reason: shortage.error.description))
        }
        if let wait = journal.slowSync, before.journal.slowSync == nil {
            new.append(.slowDisk(wait))
        }
        return tell(new)
    }

    private mutating func tell(_ new: [TakeNotice]) -> [TakeNotice] {
        notices += new
        // A disk that fails again and again must not fill memory: the newest matter.
        if notices.count > Self.noticeLimit {
            notices.removeFirst(notices.count - Self.noticeLimit)
        }
        return new
    }

    private static let noticeLimit = 100
}
