// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A flaw of a take on the disk, or of the folder of all takes.
public enum TakeStoreError: Error, Sendable, Equatable {
    /// No take has this name, or this as a part of it.
    case noSuchTake(String)
    /// This is a part of the names of several takes, oldest first.
    case ambiguous(String, [TakeID])
    /// The disk does not give the take back, or what it remembers cannot be used.
    case unreadable(take: String, reason: String)
    /// The disk refuses a change, such as "removed".
    case unchangeable(take: String, change: String, reason: String)
    /// The take's manifest, or its audio, holds something else than what this program writes.
    case damaged(take: String, reason: String)
    /// The take has no audio any more.
    case audioGone(take: String, wasAnswered: Bool)
    /// The take is encrypted, and the spool has no key.
    case keyMissing(take: String)
    /// The take is encrypted under another key.
    case keyWrong(take: String)
    /// The key of all takes cannot be had.
    case keyUnavailable(reason: String)
    /// Another process records or sends the take; the number is known from the manifest.
    case inUse(take: String, by: Int32? = nil, isSending: Bool = false)
    /// Another process has had the take answered, or has cancelled it.
    case notWaiting(take: String)
    /// A newer version of this library wrote the take.
    case laterVersion(take: String, version: Int)
    /// No take of this name was removed within the last day; nil stands for any take.
    case notRemoved(String?)
    /// A file would hold another form of audio than its name says.
    case misnamed(take: String, file: String, holds: String)
    /// The program keeps no takes on the disk.
    case notWanted
    /// The folder cannot be made or opened.
    case folderUnusable(path: String, reason: String)
    /// Others may have had their hands in the folder of takes; nothing was changed.
    case folderUnsafe(path: String, reason: String)
}

extension TakeStoreError: CustomStringConvertible {
    /// The message: what happened and why, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .noSuchTake("last"): "there is no take yet"
        case .noSuchTake(let name): "there is no take '\(name)'"
        case .ambiguous(let name, let takes): "'\(name)' matches \(takes.count) takes"
        case .unreadable(let take, let reason): "take \(take) cannot be read: \(reason)"
        case .unchangeable(let take, let change, let reason):
            "take \(take) cannot be \(change): \(reason)"
        case .damaged(let take, let reason): "take \(take) is damaged: \(reason)"
        case .inUse(let take, let process, let isSending):
            "take \(take) is being \(isSending ? "sent" : "recorded or sent") "
                + (process == getpid()
                    ? "already"
                    : "by another utter" + (process.map { " (process \($0))" } ?? ""))
        case .audioGone(let take, wasAnswered: true):
            "take \(take) has been answered, and its audio deleted"
        case .audioGone(let take, wasAnswered: false): "the audio of take \(take) is gone"
        case .keyMissing(let take): "take \(take) is encrypted, and no key was given"
        case .keyWrong(let take): "take \(take) is encrypted under another key"
        case .keyUnavailable(let reason): "the key that encrypts takes cannot be had: \(reason)"
        case .notWaiting(let take): "take \(take) does not wait for an answer any more"
        case .laterVersion(let take, let version):
            "take \(take) was written by a later utter (version \(version) of take.json)"
        case .notRemoved(nil): "nothing was removed within the last day"
        case .notRemoved(let name?): "no take '\(name)' was removed within the last day"
        case .misnamed(_, let file, let form): "'\(file)' would hold \(form), despite its name"
        case .notWanted: "takes are not kept on the disk"
        case .folderUnusable(let path, let reason):
            "takes cannot be kept in '\(path)': \(reason)"
        case .folderUnsafe(let path, let reason):
            "takes cannot be kept safely in '\(path)': \(reason)"
        }
    }
}
