// SPDX-License-Identifier: Apache-2.0

internal import Settings
internal import SpeechService

package struct SettingsCatalogue: Sendable {
    package let all: [any AnySetting]
    /// Settings that a recording can do without, by their names; `recording.` is all of a table.
    private let dispensable: [String]
    /// Settings that are about all takes on the disk, and so in no preset; by their names.
    let storewide: Set<String>
    /// The names of settings, by those that people write for them.
    private let synonyms: [String: String]

    package init(
        _ all: [any AnySetting], dispensable: [String], storewide: Set<String> = [],
        synonyms: [String: String]
    ) {
        (self.all, self.dispensable, self.synonyms) = (all, dispensable, synonyms)
        self.storewide = storewide
    }

    /// Whether a recording can do without a line; an unknown name is judged by its table.
    func isDispensable(_ name: String) -> Bool {
        if dispensable.contains(name) { return true }
        guard let dot = name.firstIndex(of: ".") else { return false }
        let table = name[...dot]
        let isKnown = all.contains { $0.name == name }
        return dispensable.contains { isKnown ? $0 == table : $0.hasPrefix(table) }
    }

    /// The setting that is meant by a name that no setting has.
    package func meant(by path: String, isTable: Bool) -> String? {
        let path = path.lowercased().replacing("_", with: "-")
        let last = path.split(separator: ".").last.map(String.init) ?? path
        if isTable { return "services.\(last)" }
        let names = all.map(\.name)
        func ending(_ word: String) -> String? {
            let found = names.filter { $0 == word || $0.hasSuffix(".\(word)") }
            return found.count == 1 ? found[0] : nil
        }
        let ends = names.compactMap { $0.split(separator: ".").last.map(String.init) }
        // The name of an option, of a member of another table, or one that is mistyped.
        return synonyms[path.replacing(".", with: "-")] ?? synonyms[last] ?? ending(last)
            ?? EditDistance.nearest(to: last, among: ends + synonyms.keys.sorted())
            .flatMap { ending($0) ?? synonyms[$0] }
    }

    /// A file that says nothing yet, and what it could say.
    package var template: String {
        var lines = [
            "# Settings of utter; 'man utter' explains them. An option goes before a variable, and",
            "# a variable before what stands here.", "",
        ]
        var group = ""
        for setting in all {
            let parts = setting.name.split(separator: ".").map(String.init)
            if parts.count == 2, parts[0] != group {
                group = parts[0]
                lines += ["", "[\(group)]"]
            }
            let value = setting.standard.map { standard in
                setting.kind.isBare ? standard : TOMLText.quoted(standard)
            }
            lines.append("# \(parts[parts.count - 1]) = \(value ?? "\"\"")")
        }
        lines += [
            "", "# [services.mine]                    # chosen by: service = \"mine\"",
            "# profile = \"openai\"                # 'utter services' lists them",
            "# url = \"https://speech.example/v1/audio/transcriptions\"",
            "# token-file = \"mine-token\"         # beside this file, mode 0600",
            "# transfer.stall-seconds = 30        # any field of 'utter services fields'",
        ]
        return lines.joined(separator: "\n") + "\n"
    }
}
