// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// How full the spool is.
extension TakeStore {
    /// Holds the bytes of audio as they were measured last, as digits; only ever a hint.
    private static let sizeName = "size"

    /// Says which limit a new take would pass; nil when there is room.
    ///
    /// Where the disk is short, the takes that a person has removed are deleted for good first.
    ///
    /// Nearly free unless a limit is near: it counts names, of which answered takes are some, reads
    /// the size that was measured last, and asks the file system once. Only when one of them is
    /// over its limit are the takes looked at.
    package func shortage(by limits: SpoolLimits) -> SpoolShortage? {
        if let free = freeByteCount(wanting: limits.free), free < limits.free {
            return .free(free, limit: limits.free)
        }
        // What cannot be counted is no reason to refuse; making the take's folder will tell.
        let names = (try? takes.entryCount(upTo: limits.takes)) ?? 0
        guard names >= limits.takes || hintedSize >= limits.bytes else { return nil }
        let (count, bytes) = audio()
        if count >= limits.takes { return .takes(count, limit: limits.takes) }
        if bytes >= limits.bytes { return .bytes(bytes, limit: limits.bytes) }
        return nil
    }

    /// Measures the audio that is kept, for the next start.
    ///
    /// Looks at every take: slow with many of them.
    package func measure() {
        let size = audio().bytes
        guard size != hintedSize else { return }
        // Without the hint, the limit is noticed later.
        try? state.replaceFile(Self.sizeName, with: Array("\(size)\n".utf8))
    }

    /// Whether less of the disk is free than the limits want.
    package func isDiskShort(by limits: SpoolLimits) -> Bool {
        takes.freeByteCount.map { $0 < limits.free } ?? false
    }

    /// What is free, after giving back what was removed if that is less than is wanted.
    private func freeByteCount(wanting count: Int) -> Int? {
        guard let free = takes.freeByteCount, free < count, destroyRemoved(where: { _ in true })
        else { return takes.freeByteCount }
        return takes.freeByteCount
    }

    private var hintedSize: Int {
        // The first start has none.
        guard let bytes = try? state.contents(of: Self.sizeName, limit: 32) else { return 0 }
        return Int(String(decoding: bytes.dropLast(), as: UTF8.self)) ?? 0
    }

    /// The takes that have audio, which those that are answered have not as a rule, and its size.
    private func audio() -> (count: Int, bytes: Int) {
        var (count, bytes) = (0, 0)
        // As above.
        for id in ((try? takes.names()) ?? []).compactMap({ TakeID($0) }) {
            guard let size = audioByteCount(of: id) else { continue }
            count += 1
            bytes += size
        }
        return (count, bytes)
    }

    /// The size of a take's audio by a look at its name alone; nil when there is none.
    package func audioByteCount(of id: TakeID) -> Int? {
        for name in TakeFolder.audioNames {
            // Of several names only one is there.
            if let size = takes.size(of: "\(id.text)/\(name)") { return size }
        }
        return nil
    }
}
