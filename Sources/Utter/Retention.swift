// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// How long takes that need nobody any more stay on the disk.
///
/// What waits for its answer is never deleted, whatever its age.
public struct Retention: Sendable, Equatable {
    /// How long the transcript of an answered take is kept.
    public var answered: Duration
    /// How long a cancelled take can be brought back.
    public var cancelled: Duration

    /// Creates a retention.
    public init(answered: Duration, cancelled: Duration) {
        self.answered = answered
        self.cancelled = cancelled
    }

    /// 30 days for transcripts, 7 days for what was cancelled.
    public static let standard = Retention(
        answered: .seconds(30 * 86_400), cancelled: .seconds(7 * 86_400))

    /// Deletes what is over its time.
    ///
    /// Blocks on the disk. Reads only the manifests of takes whose names are old enough; what
    /// cannot be read or removed stays.
    ///
    /// - Parameters:
    ///   - store: the takes.
    ///   - now: the time by which takes are old.
    /// - Returns: what was deleted, oldest first.
    @discardableResult
    public func sweep(_ store: TakeStore, now: Date = Date()) -> [TakeID] {
        let youngest = now - min(answered, cancelled).inSeconds
        // A folder that cannot be read has nothing to delete.
        let old = ((try? store.ids()) ?? []).filter { ($0.date ?? now) < youngest }
        return old.filter { id in
            // What cannot be read is nobody's to delete.
            guard let take = try? store.take(id), let manifest = try? take.manifest(),
                isOver(manifest, now: now)
            else { return false }
            // What is in use, or cannot be removed, is left for the next time.
            return (try? store.remove(take)) != nil
        }
    }

    /// Whether a take has outlived its use.
    func isOver(_ manifest: TakeManifest, now: Date) -> Bool {
        guard let date = manifest.id.date else { return false }
        switch manifest.state {
        case .answered: return date < now - answered.inSeconds
        case .cancelled: return date < now - cancelled.inSeconds
        case .recording, .sealed, .kept: return false
        }
    }
}

extension Duration {
    fileprivate var inSeconds: TimeInterval { TimeInterval(components.seconds) }
}

extension TakeID {
    /// When the take began, by its name; nil when the name says no time.
    var date: Date? {
        let digits = text.filter { $0 != "-" }.prefix(14)
        guard digits.count == 14 else { return nil }
        func part(_ from: Int, _ count: Int) -> Substring {
            digits.dropFirst(from).prefix(count)
        }
        let iso =
            "\(part(0, 4))-\(part(4, 2))-\(part(6, 2))"
            + "T\(part(8, 2)):\(part(10, 2)):\(part(12, 2))Z"
        // A name that only looks like a time has none.
        return try? Date(iso, strategy: .iso8601)
    }
}
