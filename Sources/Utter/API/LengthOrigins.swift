// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import SpeechService
internal import Synchronization
internal import TakeStore

/// The origins whose services do not take chunked bodies, remembered for a month.
///
/// Kept in a small file of the state folder, or for as long as the process without one. Usable from
/// any thread; the first look reads the file.
final class LengthOrigins: Sendable {
    /// A service that was put right is tried again after this time.
    private static let lifetime = 30 * 86_400.0
    private static let limit = 100

    private let store: TakeStore?
    private let sync: SyncLoop
    /// When each origin was last seen to want it; nil until the file has been read.
    private let times = Mutex<[String: TimeInterval]?>(nil)

    init(in store: Result<TakeStore, TakeStoreError>, sync: SyncLoop) {
        // Without a store there is nothing to remember beyond the process.
        self.store = try? store.get()
        self.sync = sync
    }

    /// Whether the service there wants the length of a body.
    func contains(_ origin: Origin) -> Bool {
        read()[origin.description].map { abs(Date().timeIntervalSince1970 - $0) < Self.lifetime }
            ?? false
    }

    /// Remembers that the service there wants the length of a body.
    func insert(_ origin: Origin) {
        var known = read()
        known[origin.description] = Date().timeIntervalSince1970
        let newest = known.sorted { $0.value > $1.value }.prefix(Self.limit)
        times.withLock { $0 = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) }) }
        guard let store else { return }
        let lines = newest.map { "\(Int($0.value)) \($0.key)\n" }.joined()
        // Without it, the next run finds out by itself.
        sync.perform { store.note(Array(lines.utf8), as: .lengthOrigins) }
    }

    private func read() -> [String: TimeInterval] {
        if let known = times.withLock({ $0 }) { return known }
        var known: [String: TimeInterval] = [:]
        let text = String(decoding: store?.note(.lengthOrigins) ?? [], as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let time = TimeInterval(words[0]) else { continue }
            known[String(words[1])] = time
        }
        times.withLock { $0 = $0 ?? known }
        return known
    }
}
