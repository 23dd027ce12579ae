// SPDX-License-Identifier: Apache-2.0

internal import TakeStore

/// The names of a fleet's objects, below its prefix.
enum FleetLayout {
    static let takes = "takes/"
    static let results = "results/"
    static let attempts = "attempts/"
    /// Marks that were opened again: a hint for the reconciler, which looks at the mark.
    static let again = "again/"
    /// Deaths, so that they can be listed: a hint, too.
    static let dead = "dead/"

    /// Folders that workers write into.
    static let own = [results, attempts, again, dead]

    /// The manifest's name; the take's day is that of its own name.
    static func manifest(of id: TakeID) -> String { "\(takes)\(id.day)/\(id.text).json" }

    static func mark(of id: TakeID) -> String { "\(results)\(id.text).json" }

    static func text(of id: TakeID, _ ending: String) -> String {
        "\(results)\(id.text).\(ending)"
    }

    static func attempts(of id: TakeID) -> String { "\(attempts)\(id.text)/" }

    static func attempt(_ number: Int, of id: TakeID) -> String {
        "\(attempts(of: id))\(number).json"
    }

    static func dead(_ id: TakeID) -> String { "\(dead)\(id.text).json" }

    static func again(_ id: TakeID) -> String { "\(again)\(id.text).json" }

    /// Such as of `takes/2026-11-21/20261121-052233-k3f9q2m7x4tz.json`; nil of any other place.
    static func take(ofManifest key: String) -> TakeID? {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "takes", isDay(parts[1]) else { return nil }
        return take(named: parts[2])
    }

    /// Whether it is named as a manifest, wherever it lies among the takes.
    static func isNamedAsManifest(_ key: String) -> Bool {
        key.hasPrefix(takes) && take(named: key.split(separator: "/").last ?? "") != nil
    }

    /// The same of a mark, and of what stands for one among the hints.
    static func take(ofMark key: String) -> TakeID? {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, ["results", "again", "dead"].contains(parts[0]) else { return nil }
        return take(named: parts[1])
    }

    private static func take(named name: Substring) -> TakeID? {
        name.hasSuffix(".json") ? TakeID(String(name.dropLast(5))) : nil
    }

    private static func isDay(_ text: Substring) -> Bool {
        let kinds = text.utf8.map { (0x30...0x39).contains($0) ? 0 : Int($0) }
        return kinds == [0, 0, 0, 0, 0x2D, 0, 0, 0x2D, 0, 0]
    }

    /// Whether a name that comes from outside is one of an object below the prefix.
    static func isHarmless(_ key: String) -> Bool {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        return key.utf8.count <= 900 && !key.isEmpty
            && parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
            && !hasControl(key)
    }

    static func hasControl(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
