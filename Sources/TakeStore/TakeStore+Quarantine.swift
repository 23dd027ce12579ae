// SPDX-License-Identifier: Apache-2.0

public import LinuxPlatform

/// What is left of takes that cannot go on.
extension TakeStore {
    /// Moves a take out of the way that is ours and of no use any more.
    ///
    /// Blocks on the disk. Nothing in it is changed. Called with the take's lock held.
    ///
    /// - Returns: its new path.
    @discardableResult
    public func quarantine(_ take: TakeFolder) throws(SystemError) -> String {
        let quarantine = try state.makeFolder(Self.quarantineName)
        try takes.move(take.id.text, to: quarantine, as: take.id.text)
        return "\(quarantine.path)/\(take.id.text)"
    }

    /// The names of the takes that have been moved out of the way, and the folder they are in.
    public func quarantined() -> (folder: String, names: [String]) {
        let path = "\(state.path)/\(Self.quarantineName)"
        guard state.hasOwnFolder(Self.quarantineName),
            // What cannot be opened cannot be listed either.
            let folder = try? state.openFolder(Self.quarantineName),
            let names = try? folder.names()  // Neither can what cannot be read.
        else { return (path, []) }
        return (path, names)
    }

    /// Removes the folder of a take that died before it had audio; false when it holds anything.
    ///
    /// Called with the take's lock held.
    public func removeIfEmpty(_ take: TakeFolder) throws(SystemError) -> Bool {
        let names = try take.fileNames()
        guard
            names.allSatisfy(
                TakeFolder.textNames.filter { $0.hasSuffix(TakeFolder.newSuffix) }.contains)
        else { return false }
        removeEmptyTake(take)
        return true
    }

    /// Finishes removals during which the program died.
    ///
    /// Blocks on the disk.
    public func finishRemovals() {
        // What cannot be listed or opened now is left for the next time.
        for name in (try? takes.names()) ?? [] where name.hasPrefix(Self.removedPrefix) {
            guard let id = TakeID(String(name.dropFirst(Self.removedPrefix.count))),
                let folder = try? takes.openFolder(name)  // As above.
            else { continue }
            TakeFolder(id: id, folder: folder).removeFiles()
            // As above.
            try? takes.removeFolder(name)
        }
    }
}
