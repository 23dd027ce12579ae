// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import TakeStore

/// How safe a take is on the disk, and what the person is told about it, its source and its answer.
///
/// Pure: told the state of journal, manifest and folder, it returns the changes.
struct Protection: Sendable {
    /// Why there is no folder; never changes.
    private var folder: String?
    private var journal = JournalCondition()
    private var manifest: String?
    /// Why the recording had to end; nil when it had not.
    private(set) var endReason: String?
    private(set) var notices: [TakeNotice] = []

    /// Why the take is not safe on the disk.
    var unprotected: String? { folder ?? journal.failure?.description ?? manifest }

    enum Report: Sendable {
        case noFolder(String)
        /// The spool takes few more takes, or no longer ones.
        case spoolNearlyFull(String)
        case slowFolder(Duration)
        /// Why the manifest could not be written, or nil.
        case manifest(String?)
        case journal(JournalCondition)
        /// Damage of a take of an earlier run.
        case damage(String)
        /// The answer is odd.
        case answer(String)
        /// The take lives in memory, and that is full.
        case full
        /// An oddity of the source.
        case source(String)
    }

    mutating func take(_ report: Report) -> [TakeNotice] {
        switch report {
        case .noFolder(let reason): change { $0.folder = reason }
        case .spoolNearlyFull(let reason):
            notices.contains(.spoolNearlyFull(reason: reason))
                ? [] : tell([.spoolNearlyFull(reason: reason)])
        case .slowFolder(let wait): tell([.slowDisk(wait)])
        case .manifest(let reason): change { $0.manifest = reason }
        case .journal(let condition): change { $0.journal = condition }
        case .damage(let report): tell([.damaged(report: report)])
        case .answer(let reason): tell([.oddAnswer(reason: reason)])
        case .source(let warning): tell([.ofSource(warning)])
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
