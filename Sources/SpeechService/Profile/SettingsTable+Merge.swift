// SPDX-License-Identifier: Apache-2.0

internal import Settings

extension SettingsTable {
    /// This table with what another one says over it.
    ///
    /// Tables are merged member by member; everything else is replaced. `false` in the place of a
    /// table takes it away.
    func extended(by other: SettingsTable) -> SettingsTable {
        var merged = self
        for member in other.members {
            guard let index = merged.members.firstIndex(where: { $0.name == member.name }) else {
                merged.members.append(member)
                continue
            }
            switch (merged.members[index].node.value, member.node.value) {
            case (.table(let old), .table(let new)):
                var both = member
                both.node.value = .table(old.extended(by: new))
                merged.members[index] = both
            case (.table, .flag(false)):
                merged.members.remove(at: index)
            default: merged.members[index] = member
            }
        }
        return merged
    }
}
