// SPDX-License-Identifier: Apache-2.0

/// The takes that had audio when they were last looked at.
///
/// Most takes are answered and have none any more. Only those of the note and the newest are looked
/// at for it, and all of them once an hour. It is only ever a hint.
struct AudioNote: Equatable {
    /// How many of the newest takes are always looked at: they may be about to get audio.
    private static let newestCount = 32

    /// The size of the audio that waits for an answer.
    private(set) var byteCount = 0
    /// The last take that need not be looked at again.
    private var newest = ""
    /// Takes that wait for an answer, the newest excepted.
    private var waiting: Set<String> = []
    /// Takes whose audio may be deleted, since their text was handed over.
    private(set) var released: Set<String> = []

    init() {}

    /// Notes what was found among the names, which are sorted: in the order in which takes began.
    init(names: [String], waiting: [TakeID], released: [TakeID], byteCount: Int) {
        newest = names.dropLast(Self.newestCount).last { TakeID($0) != nil } ?? ""
        // Takes that are looked at in any case are left out.
        self.waiting = Set(waiting.map(\.text).filter { [newest] in $0 <= newest })
        self.released = Set(released.map(\.text))
        self.byteCount = byteCount
    }

    /// Reads a note; one that is damaged knows of no take.
    init(_ bytes: [UInt8]) {
        byteCount = Self.byteCount(in: bytes) ?? 0
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let first = lines.first?.split(separator: " ") ?? []
        // A note of only a few takes names no newest one.
        guard first.count == 1 || first.count == 2 && TakeID(String(first[1])) != nil,
            Self.byteCount(in: bytes) != nil
        else { return }
        newest = first.count == 2 ? String(first[1]) : ""
        for line in lines.dropFirst() {
            if line.hasPrefix("-") {
                released.insert(String(line.dropFirst()))
            } else {
                waiting.insert(String(line))
            }
        }
    }

    /// The size of the audio in a note, without a look at its takes; nil in one that is damaged.
    static func byteCount(in bytes: [UInt8]) -> Int? {
        let word = bytes.prefix { $0 != 0x20 && $0 != 0x0A }
        // More than any disk holds was not written by this program.
        return Int(String(decoding: word, as: UTF8.self)).flatMap {
            (0..<1 << 60).contains($0) ? $0 : nil
        }
    }

    var bytes: [UInt8] {
        let lines =
            ["\(byteCount) \(newest)"] + waiting.sorted() + released.sorted().map { "-" + $0 }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    mutating func add(_ take: TakeID, byteCount: Int) {
        waiting.insert(take.text)
        released.remove(take.text)
        self.byteCount += byteCount
    }

    /// Whether a take was found to wait, and is not among the newest.
    func isWaiting(_ name: String) -> Bool { name <= newest && waiting.contains(name) }

    func mayHaveAudio(_ name: String) -> Bool {
        name > newest || waiting.contains(name) || released.contains(name)
    }
}
