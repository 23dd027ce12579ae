// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

extension TakeFolder {
    /// Whether there is neither a manifest nor a byte of audio in it, nor anything unknown.
    var isHollow: Bool {
        let folder = folder
        // What cannot be looked at may hold anything.
        guard let names = try? folder.names() else { return false }
        return names.allSatisfy { name in
            if Self.textNames.contains(name) { return name.hasSuffix(Self.newSuffix) }
            return Self.ownNames.contains(name) && name != Self.damagedName
                && (try? folder.byteCount(of: name)) == 0  // As above.
        }
    }
}
