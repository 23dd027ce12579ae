// SPDX-License-Identifier: Apache-2.0

/// A shortcut that the desktop is asked to tell of.
package struct Shortcut: Equatable, Sendable {
    /// Its name among ours.
    package var id: String
    /// What the person reads.
    package var description: String
    /// The key that is proposed, as the XDG shortcuts specification writes it; nil proposes none.
    var preferredTrigger: String?

    /// Describes one.
    package init(id: String, description: String, preferredTrigger: String? = nil) {
        (self.id, self.description) = (id, description)
        self.preferredTrigger = preferredTrigger
    }

    /// As `BindShortcuts` wants it: `(sa{sv})`.
    var value: BusValue {
        var options = ["description": BusValue.string(description)]
        if let preferredTrigger { options["preferred_trigger"] = .string(preferredTrigger) }
        return .structure([.string(id), .options(options)])
    }

    /// The keys that the desktop names, by the names of their shortcuts.
    static func triggers(in value: BusValue?) -> [String: String] {
        var triggers: [String: String] = [:]
        for case .structure(let pair) in value?.members ?? [] where pair.count == 2 {
            guard let id = pair[0].text, case .options(let options) = pair[1],
                let trigger = options["trigger_description"]?.text
            else { continue }
            triggers[id] = trigger
        }
        return triggers
    }
}
