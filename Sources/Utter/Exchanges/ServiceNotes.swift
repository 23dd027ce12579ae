// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
internal import SpeechService
internal import Synchronization
internal import TakeStore

/// How a service takes recordings, as its answers to earlier takes have shown.
struct ServiceTraits: Sendable, Equatable {
    /// It takes bodies with a length only.
    var wantsLength = false
    /// The most that a request may carry, in frames; nil: the service has refused none as too large.
    var longest: Int?
}

/// A number for each of some services, which their answers have shown, and which lasts for a time.
///
/// Kept in a small file of the state folder, which other processes change, too; without a spool, in
/// the memory of the process. Usable from any thread; looking blocks on the disk.
final class ServiceNotes: Sendable {
    struct Entry: Sendable, Equatable {
        /// In seconds since 1970.
        var time: Int
        var value: Int
    }

    /// By what the services are called.
    typealias Entries = [String: Entry]

    enum Kind: Sendable {
        /// The origins that take bodies with a length only; one that was put right is tried again after
        /// a month.
        case lengths
        /// The frames that a request to a URL may carry, for a day.
        case stretches

        fileprivate var note: TakeStore.Note {
            switch self {
            case .lengths: .lengthOrigins
            case .stretches: .stretchLimits
            }
        }

        /// In seconds.
        var lifetime: Int { self == .lengths ? 30 * 86_400 : 86_400 }
    }

    static let limit = 100

    private let kind: Kind
    private let spool: Spool?
    private let sync: SyncLoop
    /// The entries that the file does not have yet.
    private let unwritten = Mutex<Entries>([:])

    init(_ kind: Kind, in spool: Spool?, sync: SyncLoop) {
        (self.kind, self.spool, self.sync) = (kind, spool, sync)
    }

    func value(of name: String) -> Int? {
        let own = unwritten.withLock { $0 }
        return Self.lasting(spool?.notes(kind) ?? [:], own, of: kind)[name]?.value
    }

    /// Remembers a service; the file knows it once the sync thread has changed that.
    func insert(_ name: String, _ value: Int) {
        let new = [name: Entry(time: Int(Date().timeIntervalSince1970), value: value)]
        unwritten.withLock { $0 = Self.lasting($0, new, of: kind) }
        guard let spool else { return }
        sync.perform { [self] in
            // Without it, the next run finds out by itself.
            guard let store = try? spool.store() else { return }
            store.change(kind.note) { [kind] bytes in
                Self.bytes(of: Self.lasting(Self.entries(in: bytes), new, of: kind))
            }
            unwritten.withLock { if $0[name] == new[name] { $0[name] = nil } }
        }
    }

    fileprivate static func lasting(
        _ old: Entries, _ new: Entries = [:], of kind: Kind
    ) -> Entries {
        let start = Int(Date().timeIntervalSince1970) - kind.lifetime
        let all = old.merging(new) { $0.time > $1.time ? $0 : $1 }.filter { $0.value.time > start }
        let newest = all.sorted { $0.value.time > $1.value.time }.prefix(limit)
        return Entries(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
    }

    /// A line for each: its time, its name, and a value other than 1.
    private static func bytes(of entries: Entries) -> [UInt8] {
        let lines = entries.map { name, entry in
            "\(entry.time) \(name)" + (entry.value == 1 ? "\n" : " \(entry.value)\n")
        }
        return Array(lines.sorted().joined().utf8)
    }

    fileprivate static func entries(in bytes: [UInt8]) -> Entries {
        var entries: Entries = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard (2...3).contains(words.count), let time = Int(words[0]),
                let value = words.count == 3 ? Int(words[2]) : 1
            else { continue }
            entries[String(words[1])] = Entry(time: time, value: value)
        }
        return entries
    }
}

extension Spool {
    /// Empty where the file cannot be read; blocks on the disk.
    fileprivate func notes(_ kind: ServiceNotes.Kind) -> ServiceNotes.Entries {
        // Nothing is known where nothing can be read.
        guard let bytes = try? store().note(kind.note) else { return [:] }
        return ServiceNotes.lasting(ServiceNotes.entries(in: bytes), of: kind)
    }

    /// The services that have refused recordings as too large, and how much they take in a request:
    /// until a day after that; blocks on the disk.
    package func learnedLimits() -> [(url: String, longest: Duration, since: Date)] {
        notes(.stretches).sorted { $0.key < $1.key }.map { url, entry in
            (
                url, .seconds(Double(entry.value) / 16_000),
                Date(timeIntervalSince1970: Double(entry.time))
            )
        }
    }

    /// Forgets them; blocks on the disk.
    package func forgetLearnedLimits() throws(TakeStoreError) {
        try store().change(.stretchLimits) { _ in [] }
    }
}
