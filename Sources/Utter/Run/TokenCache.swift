// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
internal import SpeechService
internal import Synchronization
internal import TakeStore

/// Tokens that were fetched and are good still.
///
/// Kept in a small file of the state folder, which its owner alone can read; where takes are
/// encrypted or live in memory, for as long as the process. Usable from any thread; the first look
/// reads the file.
final class TokenCache: Sendable {
    private struct Entry {
        /// In seconds since 1970.
        var end: TimeInterval
        var token: String
    }

    /// As many tokens are remembered, those that end last.
    private static let limit = 16
    /// A token is not used so long before its end, or the tenth part of its life.
    private static let margin = Duration.seconds(60)

    private let store: TakeStore?
    private let sync: SyncLoop
    /// By what `key` says; nil until the file has been read.
    private let entries = Mutex<[String: Entry]?>(nil)

    init(in store: TakeStore?, sync: SyncLoop) {
        self.store = store
        self.sync = sync
    }

    /// What a token is remembered by: who issues it, to which client; nothing of it is secret.
    static func key(_ request: TokenRequest) -> String {
        var digest = SHA256()
        let fields = request.headers.map { "\($0.name):\($0.value)" }
        let text = ([request.url.text] + fields).joined(separator: "\n") + "\n"
        digest.update((Array(text.utf8) + request.body).span)
        return digest.hexadecimal
    }

    /// A token that is good still; nil when there is none.
    func token(for key: String) -> String? {
        guard let entry = read()[key], entry.end > Date().timeIntervalSince1970 else { return nil }
        return entry.token
    }

    /// Remembers a token.
    func insert(_ token: String, for key: String, lifetime: Duration) {
        let used = lifetime - min(Self.margin, lifetime / 10)
        let now = Date().timeIntervalSince1970
        var known = read().filter { $0.value.end > now }
        known[key] = Entry(end: now + used / .seconds(1), token: token)
        let newest = known.sorted { $0.value.end > $1.value.end }.prefix(Self.limit)
        entries.withLock {
            $0 = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
        }
        guard let store else { return }
        let lines = newest.map { "\(Int($0.value.end)) \($0.key) \($0.value.token)\n" }.joined()
        // Without it, the next run fetches another.
        sync.perform { store.note(Array(lines.utf8), as: .tokens) }
    }

    private func read() -> [String: Entry] {
        if let known = entries.withLock({ $0 }) { return known }
        var known: [String: Entry] = [:]
        let text = String(decoding: store?.note(.tokens) ?? [], as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3, let end = TimeInterval(words[0]) else { continue }
            known[String(words[1])] = Entry(end: end, token: String(words[2]))
        }
        entries.withLock { $0 = $0 ?? known }
        return known
    }
}
