// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform

extension TakeStore {
    /// The grace period, in seconds, between making a take's folder and locking it.
    private static let longestBirth = 60.0

    /// Moves a take out of the way that is ours and of no use any more.
    ///
    /// Blocks on the disk. Nothing in it is changed. Called with the take's lock held.
    @discardableResult
    func quarantine(_ take: TakeFolder) throws(SystemError) -> String {
        let quarantine = try state.makeFolder(Self.quarantineName)
        try takes.move(take.id.text, to: quarantine, as: take.id.text)
        return "\(quarantine.path)/\(take.id.text)"
    }

    /// The names of the takes that have been moved out of the way, and the folder they are in.
    package func quarantined() -> (folder: String, names: [String]) {
        let path = "\(state.path)/\(Self.quarantineName)"
        guard state.hasOwnFolder(Self.quarantineName),
            // A folder that cannot be opened cannot be listed either.
            let folder = try? state.openFolder(Self.quarantineName),
            let names = try? folder.names()  // Neither can what cannot be read.
        else { return (path, []) }
        return (path, names)
    }

    /// Why a take was moved out of the way, as its manifest says; nil when that says nothing.
    package func quarantineReason(of name: String) -> String? {
        guard let id = TakeID(name),
            // A folder that cannot be opened gives no reason.
            let folder = try? state.openFolder(Self.quarantineName).openFolder(name)
        else { return nil }
        // Some are there because there is no manifest, or because it cannot be read.
        return try? TakeFolder(id: id, folder: folder, key: key).manifest().reason
    }

    /// Removes the folder of a take that died before it had audio; false when it holds anything.
    ///
    /// Called with the take's lock held.
    func removeIfEmpty(_ take: TakeFolder) throws(SystemError) -> Bool {
        let names = try take.fileNames()
        guard
            names.allSatisfy(
                TakeFolder.textNames.filter { $0.hasSuffix(TakeFolder.newSuffix) }.contains)
        else { return false }
        removeEmptyTake(take)
        return true
    }

    /// Whether the folder of a take holds nothing of it: a full disk has taken neither a byte of its
    /// audio nor its manifest, or its program is just making it.
    ///
    /// From what it sees without the take's lock, and so for one moment only.
    package func isHollow(_ id: TakeID) -> Bool {
        // Nearly all have one.
        guard !hasManifest(id),
            // A folder that cannot be looked at may hold anything.
            let take = try? take(id)
        else { return false }
        return take.isHollow
    }

    package func hasManifest(_ id: TakeID) -> Bool {
        takes.size(of: "\(id.text)/\(TakeFolder.manifestName)") != nil
    }

    /// Removes the folder of a take that the disk has taken nothing of.
    ///
    /// Called with the take's lock held, when nothing is written to it any more.
    package func removeIfHollow(_ take: TakeFolder) {
        if take.isHollow { removeEmptyTake(take) }
    }

    /// Clears away what programs have left that died while they made or removed a take.
    package func clearLeftovers() {
        // Leftovers that cannot be listed now are left for the next time.
        for name in (try? takes.names()) ?? [] where name.hasPrefix(".") {
            if let id = Self.id(name, behind: Self.removedPrefix) {
                finishRemoval(of: id, name)
            } else if let id = Self.id(name, behind: Self.unbornPrefix) {
                clearUnborn(id, name)
            }
        }
    }

    private static func id(_ name: String, behind prefix: String) -> TakeID? {
        name.hasPrefix(prefix) ? TakeID(String(name.dropFirst(prefix.count))) : nil
    }

    /// Deletes what is in a take's folder, which has this hidden name by now.
    func finishRemoval(of id: TakeID, _ name: String) {
        // A folder that cannot be opened or removed is left for the next time, here and below.
        guard let folder = try? takes.openFolder(name) else { return }
        TakeFolder(id: id, folder: folder).removeFiles()
        try? takes.removeFolder(name)  // Left for the next time.
    }

    /// Removes a take that never got its name, or gives it that when it has audio, of which a power
    /// cut has left more than of its name.
    ///
    /// The process that has just made it is about to lock it, unless it has audio.
    private func clearUnborn(_ id: TakeID, _ name: String) {
        // Left for the next time.
        guard let folder = try? takes.openFolder(name), let names = try? folder.names()
        else { return }
        let hasAudio = names.contains { name in
            TakeFolder.audioNames.contains { [$0, $0 + TakeFolder.newSuffix].contains(name) }
        }
        let age = Date().timeIntervalSince1970 - (folder.modificationTime(of: ".") ?? 0)
        guard hasAudio || abs(age) >= Self.longestBirth, (try? folder.lock()) == true  // Left, too.
        else { return }
        guard !hasAudio else {
            // A name that is taken is not replaced; a failure is left for the next time.
            if (try? takes.renameFolder(name, toNew: id.text)) != nil { try? takes.sync() }
            return
        }
        TakeFolder(id: id, folder: folder).removeFiles()
        try? takes.removeFolder(name)  // Left for the next time.
    }
}

extension TakeFolder {
    /// Whether there is neither a manifest nor a byte of audio in it, nor anything unknown.
    var isHollow: Bool {
        let folder = folder
        // A folder that cannot be looked at may hold anything.
        guard let names = try? folder.names() else { return false }
        return names.allSatisfy { name in
            if Self.textNames.contains(name) { return name.hasSuffix(Self.newSuffix) }
            return Self.ownNames.contains(name) && name != Self.damagedName
                && (try? folder.byteCount(of: name)) == 0  // So may such a file.
        }
    }
}
