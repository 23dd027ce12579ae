// SPDX-License-Identifier: Apache-2.0

/// The takes that had audio when they were last looked at.
///
/// Most takes are answered and have none any more. Only those of the note and the newest are looked
/// at for it, and all of them once an hour. It is only ever a hint.
struct AudioNote: Equatable {
    /// Takes that may be about to get audio: as many of the newest are always looked at.
    private static let newestCount = 32

    /// The size of all audio.
    private(set) var byteCount = 0
    /// The last take that need not be looked at again.
    private var newest = ""
    private var takes: Set<String> = []

    /// Knows of no take: all are looked at.
    init() {}

    /// Notes what was found.
    ///
    /// - Parameters:
    ///   - names: what there is among the takes, sorted: in the order in which they began.
    ///   - takes: those that have audio.
    ///   - byteCount: its size.
    init(names: [String], takes: [TakeID], byteCount: Int) {
        newest = names.dropLast(Self.newestCount).last { TakeID($0) != nil } ?? ""
        self.takes = Set(takes.map(\.text))
        self.byteCount = byteCount
    }

    /// Reads a note; one that is damaged knows of no take.
    init(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let first = lines.first?.split(separator: " ") ?? []
        // More than any disk holds was not written by this program.
        guard let word = first.first, let count = Int(word), (0..<1 << 60).contains(count) else {
            return
        }
        byteCount = count
        guard first.count == 2, TakeID(String(first[1])) != nil else { return }
        newest = String(first[1])
        takes = Set(lines.dropFirst().map(String.init))
    }

    /// The note as it is kept.
    var bytes: [UInt8] {
        // Those that are looked at in any case are left out.
        let lines = ["\(byteCount) \(newest)"] + takes.filter { $0 <= newest }.sorted()
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// Notes a take that has audio again.
    mutating func add(_ take: TakeID, byteCount: Int) {
        takes.insert(take.text)
        self.byteCount += byteCount
    }

    /// Whether a take may have audio.
    func mayHaveAudio(_ name: String) -> Bool { name > newest || takes.contains(name) }
}
