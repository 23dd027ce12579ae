// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// A disk as a trace of operations has left it, of which some are durable and others are not yet.
///
/// What a power cut leaves follows POSIX, not one file system: `fsync` of a folder makes its names
/// durable, `fdatasync` of a file its bytes; anything else may be there or not, in any order. A name
/// is replaced at once or not at all. Bytes come in sectors, and a file may be longer than what
/// has arrived of it: the rest is zero.
struct LostPower {
    /// A change that no sync has made durable.
    fileprivate enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(Int)
        /// Names of a folder and what they stand for from then on.
        case names([(String, Int?)])
    }

    fileprivate struct Node {
        var isFolder: Bool
        var bytes: [UInt8] = []
        var names: [String: Int] = [:]
        var changes: [Change] = []
    }

    /// What a power cut may leave, and what must be left of it.
    struct Remains {
        /// Files with their bytes, folders with nil.
        var entries: [String: [UInt8]?]
        /// The audio of each take as far as it was durable, by the take's id.
        var durable: [String: [UInt8]]
        /// The paths of manifests of which one has been durable: it is there, or a later one.
        var manifests: Set<String>
    }

    fileprivate enum Fate: CaseIterable {
        case lost, kept, torn, zeroed
    }

    fileprivate static let sector = 512
    private let folder: String
    private var nodes = [Node(isFolder: true)]
    private var manifests: Set<String> = []

    /// Begins with an empty folder, with which the operations' paths begin.
    init(folder: String) {
        self.folder = folder
    }

    // MARK: - What happens

    mutating func apply(_ operation: FileOperation) {
        guard operation.result >= 0 else { return }
        switch operation.name {
        case "mkdir": make(operation.path, isFolder: true)
        case "create": if find(operation.path) == nil { make(operation.path, isFolder: false) }
        case "write":
            change(
                operation.path, .write(offset: operation.offset, bytes: operation.bytes))
        case "truncate": change(operation.path, .truncate(operation.offset))
        case "unlink", "rmdir": setNames(in: operation.path, [(Self.name(operation.path), nil)])
        case "rename":
            guard let other = operation.other, let node = find(operation.path) else { return }
            setNames(
                in: operation.path, [(Self.name(operation.path), nil), (Self.name(other), node)])
        case "link":
            guard let other = operation.other, let node = find(operation.path) else { return }
            setNames(in: other, [(Self.name(other), node)])
        case "fdatasync", "fsync":
            guard let node = find(operation.path) else { return }
            for change in nodes[node].changes { nodes[node].take(change, .kept) }
            nodes[node].changes = []
            noteManifests(0, "")
        default: break
        }
    }

    /// Notes which manifests are durable now: whole bytes under durable names.
    private mutating func noteManifests(_ node: Int, _ path: String) {
        for (name, child) in nodes[node].names {
            let below = path.isEmpty ? name : path + "/" + name
            let isWhole = nodes[child].changes.isEmpty && !nodes[child].bytes.isEmpty
            if name == "take.json" && isWhole { manifests.insert(below) }
            noteManifests(child, below)
        }
    }

    private mutating func make(_ path: String, isFolder: Bool) {
        nodes.append(Node(isFolder: isFolder))
        setNames(in: path, [(Self.name(path), nodes.count - 1)])
    }

    private mutating func setNames(in path: String, _ names: [(String, Int?)]) {
        guard let parent = find(Self.parent(path)) else { return }
        nodes[parent].changes.append(.names(names))
    }

    private mutating func change(_ path: String, _ change: Change) {
        if let node = find(path) { nodes[node].changes.append(change) }
    }

    private static func name(_ path: String) -> String {
        String(path.split(separator: "/").last ?? "")
    }

    private static func parent(_ path: String) -> String {
        "/" + path.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// The node that a path leads to while the power is on.
    private func find(_ path: String) -> Int? {
        guard path.hasPrefix(folder) else { return nil }
        var node = 0
        for part in path.dropFirst(folder.count).split(separator: "/") {
            var names = nodes[node]
            for change in names.changes { names.take(change, .kept) }
            guard let next = names.names[String(part)] else { return nil }
            node = next
        }
        return node
    }

    // MARK: - What is left

    /// What a cut at this moment may leave: all, nothing, each change alone, all but each, and
    /// some random mixtures.
    func remains(mixtures: Int, using random: inout SeededRandom) -> [Remains] {
        let pending = nodes.indices.flatMap { node in
            nodes[node].changes.indices.map { (node, $0) }
        }
        var fates: [[Fate]] = [
            pending.map { _ in .lost }, pending.map { _ in .kept }, pending.map { _ in .zeroed },
        ]
        // The latest matter most; the earlier ones come in the mixtures.
        for index in pending.indices.suffix(6) {
            for fate in Fate.allCases {
                fates.append(pending.indices.map { $0 == index ? fate : .kept })
            }
            fates.append(pending.indices.map { $0 == index ? .kept : .lost })
            fates.append(pending.indices.map { $0 < index ? .kept : .lost })
        }
        for _ in 0..<mixtures where !pending.isEmpty {
            fates.append(pending.map { _ in Fate.allCases.randomElement(using: &random) ?? .kept })
        }
        let durable = durableAudio
        return fates.map { fates in
            var left = nodes
            for (place, fate) in zip(pending, fates) {
                let sectors = Int.random(in: 1...8, using: &random)
                left[place.0].take(nodes[place.0].changes[place.1], fate, sectors: sectors)
            }
            return Remains(
                entries: Self.entries(left), durable: durable, manifests: manifests)
        }
    }

    /// What must be left of each take's audio: durable bytes under durable names.
    private var durableAudio: [String: [UInt8]] {
        var audio: [String: [UInt8]] = [:]
        for (path, bytes) in Self.entries(nodes) {
            let parts = path.split(separator: "/")
            guard let bytes, let name = parts.last, name.hasPrefix("audio.") else { continue }
            audio[String(parts[parts.count - 2])] = bytes
        }
        // A removal that is not durable yet is nothing to insist on.
        for path in audio.keys where removes(path) { audio[path] = nil }
        return audio
    }

    private func removes(_ take: String) -> Bool {
        guard let node = nodes.lazy.compactMap({ $0.names[take] }).first else { return false }
        return nodes[node].changes.contains { change in
            guard case .names(let names) = change else { return false }
            return names.contains { $0.0.hasPrefix("audio.") && $0.1 == nil }
        }
    }

    private static func entries(_ nodes: [Node]) -> [String: [UInt8]?] {
        var entries: [String: [UInt8]?] = [:]
        func add(_ node: Int, _ path: String) {
            for (name, child) in nodes[node].names {
                let below = path.isEmpty ? name : path + "/" + name
                entries[below] = .some(nodes[child].isFolder ? nil : nodes[child].bytes)
                add(child, below)
            }
        }
        add(0, "")
        return entries
    }
}

extension LostPower.Node {
    fileprivate mutating func take(
        _ change: LostPower.Change, _ fate: LostPower.Fate, sectors: Int = 0
    ) {
        guard fate != .lost else { return }
        switch change {
        case .names(let changed):
            for (name, node) in changed { names[name] = node }
        case .truncate(let length):
            bytes = Array(bytes.prefix(length))
            bytes.append(contentsOf: [UInt8](repeating: 0, count: length - bytes.count))
        case .write(let offset, let new):
            switch fate {
            case .torn:
                let size = LostPower.sector
                let end = (offset / size + sectors) * size
                bytes.overwrite(at: offset, with: Array(new.prefix(end - offset)))
            case .zeroed:
                // Longer already, and not written: what was there before stays.
                let old = Array(bytes.dropFirst(offset).prefix(new.count))
                bytes.overwrite(
                    at: offset,
                    with: old + [UInt8](repeating: 0, count: new.count - old.count))
            default: bytes.overwrite(at: offset, with: new)
            }
        }
    }
}
