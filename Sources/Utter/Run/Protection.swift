// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import TakeStore

/// How safe a take is on the disk, and what of that a person has to hear.
///
/// Pure: told what journal, manifest and folder are like, it says what has changed.
struct Protection: Sendable {
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

    enum Report: Sendable {
        case noFolder(String)
        /// There may be one yet.
        case slowFolder(Duration)
        /// The manifest could not be written, or nil when it could.
        case manifest(String?)
        case journal(JournalCondition)
        /// A part of a take of an earlier run is lost.
        case damage(String)
        /// Memory, where the take lives, has no room for more.
        case full
    }

    /// Takes a report in.
    ///
    /// - Returns: what a person has to hear of it.
    mutating func take(_ report: Report) -> [TakeNotice] {
        switch report {
        case .noFolder(let reason): change { $0.folder = reason }
        case .slowFolder(let wait): tell([.slowDisk(wait)])
        case .manifest(let reason): change { $0.manifest = reason }
        case .journal(let condition): change { $0.journal = condition }
        case .damage(let report): tell([.damaged(report: report)])
        case .full: endReason == nil ? cutShort() : []
        }
    }

    private mutating func cutShort() -> [TakeNotice] {
        let reason = "memory, where it lives, has no room for more"
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
