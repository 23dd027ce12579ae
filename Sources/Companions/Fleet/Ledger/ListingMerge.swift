// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import TakeStore

/// Finds the takes without a mark by two sorted listings, each of which is read once.
///
/// It holds one name of each. A listing that is not in order, as a store or a clock may have it, costs
/// a look at the mark itself, and never a wrong answer.
struct ListingMerge {
    enum MarkState {
        case marked, open
        /// The listings do not say.
        case unsure
    }

    private var lastTake = ""
    private var mark = ""
    private var isExhausted = false
    private var isDisordered = false

    /// Looks for the mark of the next take; `next` reads the listing of marks, nil at its end.
    mutating func finding<Failure: Error>(
        of take: TakeID, next: () throws(Failure) -> TakeID?
    ) throws(Failure) -> MarkState {
        defer { lastTake = max(lastTake, take.text) }
        guard take.text > lastTake else { return .unsure }
        while !isExhausted, mark < take.text {
            guard let found = try next() else {
                isExhausted = true
                break
            }
            if found.text <= mark { isDisordered = true }
            mark = found.text
        }
        if mark == take.text { return .marked }
        return isDisordered ? .unsure : .open
    }
}

/// Reads a listing object after object, a page at a time.
struct ListingReader: ~Copyable {
    private let store: ObjectStore
    private let beginning: String
    private var last: String?
    private var page: ArraySlice<ListedObject> = []
    private var isOver = false
    /// Manifests that were passed over: how many, and the first.
    private(set) var misplaced: (count: Int, first: String)?

    /// Reads the objects whose names begin like this, behind `last`.
    init(_ store: ObjectStore, _ beginning: String, after last: String? = nil) {
        (self.store, self.beginning, self.last) = (store, beginning, last)
    }

    mutating func next() throws(StoreFailure) -> ListedObject? {
        if page.isEmpty, let more = try nextPage() { page = more[...] }
        return page.popFirst()
    }

    /// The next objects, at least one; nil at the end.
    mutating func nextPage() throws(StoreFailure) -> [ListedObject]? {
        while !isOver {
            let found = try store.page(of: beginning, after: last)
            isOver = found.isLast
            last = found.objects.map(\.key).max() ?? last
            if !found.objects.isEmpty { return found.objects }
        }
        return nil
    }

    /// The next object that is a take's manifest, mark or hint, such as stand among others.
    mutating func nextTake() throws(StoreFailure) -> (id: TakeID, object: ListedObject)? {
        while let object = try next() {
            let id = FleetLayout.take(ofManifest: object.key)
            if let id = id ?? FleetLayout.take(ofMark: object.key) { return (id, object) }
            guard FleetLayout.isNamedAsManifest(object.key) else { continue }
            misplaced = ((misplaced?.count ?? 0) + 1, misplaced?.first ?? object.key)
        }
        return nil
    }
}

extension ObjectStore {
    /// Goes through all takes beside all marks, each listing once, until `visit` answers false.
    ///
    /// `markSeen` is told of the marks that are passed.
    ///
    /// - Returns: which manifests were passed over, in one line; nil when none was.
    func eachTake(
        markSeen: (TakeID, ListedObject) -> Void = { _, _ in },
        _ visit: (TakeID, ListedObject, _ isMarked: Bool) throws -> Bool
    ) throws -> String? {
        var takes = ListingReader(self, FleetLayout.takes)
        var marks = ListingReader(self, FleetLayout.results)
        var merge = ListingMerge()
        while let (id, object) = try takes.nextTake() {
            let finding = try merge.finding(of: id) { () throws(StoreFailure) in
                let mark = try marks.nextTake()
                if let mark { markSeen(mark.id, mark.object) }
                return mark?.id
            }
            let isMarked =
                try finding == .unsure ? has(FleetLayout.mark(of: id)) : finding == .marked
            guard try visit(id, object, isMarked) else { return nil }
        }
        return takes.misplaced.map { count, first in
            "passed over \(count) \(count == 1 ? "manifest" : "manifests"): '\(first)' does not lie in "
                + "a folder such as takes/2026-11-27"
        }
    }

    /// Writes what people read of a mark, unless it is there; true when some of it was missing.
    func putTexts(of mark: ResultMark, as id: TakeID) throws(StoreFailure) -> Bool {
        var isNew = false
        for (ending, text) in mark.texts {
            let type = "text/\(ending == "vtt" ? "vtt" : "plain"); charset=utf-8"
            let key = FleetLayout.text(of: id, ending)
            if try put(key, Array(text.utf8), type: type, if: .absent) { isNew = true }
        }
        return isNew
    }

    /// Writes the texts of workers that died behind their mark; of how many takes.
    func putMissingTexts(unless isOver: () -> Bool) throws(StoreFailure) -> Int {
        let dead = Set(try takes(FleetLayout.dead))
        var results = ListingReader(self, FleetLayout.results)
        var (count, endings) = (0, Set<Substring>())
        var last: TakeID?
        while !isOver() {
            let object = try results.next()
            let name = (object?.key ?? "").dropFirst(FleetLayout.results.count)
            let ending = name.drop { $0 != "." }
            let id = TakeID(String(name.dropLast(ending.count)))
            if id != last {
                let isWhole =
                    endings.contains(".txt") && endings.contains(".srt") == endings.contains(".vtt")
                if let last, endings.contains(".json"), !isWhole, !dead.contains(last),
                    let mark = try get(FleetLayout.mark(of: last)).flatMap({ ResultMark($0.bytes) }
                    ),
                    try putTexts(of: mark, as: last)
                {
                    count += 1
                }
                (last, endings) = (id, [])
            }
            guard object != nil else { break }
            endings.insert(ending)
        }
        return count
    }

    func attempts(of id: TakeID) throws(StoreFailure) -> [Int] {
        var objects = ListingReader(self, FleetLayout.attempts(of: id))
        var numbers: [Int] = []
        while let object = try objects.next(), numbers.count < 1_000 {
            let name = object.key.split(separator: "/").last ?? ""
            guard name.hasSuffix(".json"), let number = Int(name.dropLast(5)),
                (1..<1_000_000).contains(number)
            else { continue }
            numbers.append(number)
        }
        return numbers
    }
}

struct ListedObject: Sendable, Equatable {
    var key: String
    var byteCount: Int
    /// With its quotation marks, as the store writes it.
    var tag: String
    /// ISO 8601, as the store writes it.
    var modified: String
}

/// A page of a listing, as `ListObjectsV2` answers it.
struct ListingPage: Equatable {
    var objects: [ListedObject]
    var isLast: Bool

    /// Reads an answer; nil for a document of another kind.
    init?(_ document: [UInt8]) {
        let text = String(decoding: document, as: UTF8.self)
        guard text.contains("<ListBucketResult"), text.contains("</ListBucketResult>") else {
            return nil
        }
        isLast = Self.first("IsTruncated", in: text[...]) != "true"
        objects = []
        var rest = text[...]
        while let start = rest.firstRange(of: "<Contents>"),
            let end = rest[start.upperBound...].firstRange(of: "</Contents>")
        {
            let entry = rest[start.upperBound..<end.lowerBound]
            rest = rest[end.upperBound...]
            guard let key = Self.first("Key", in: entry), !key.isEmpty else { continue }
            objects.append(
                ListedObject(
                    key: key, byteCount: Self.first("Size", in: entry).flatMap { Int($0) } ?? 0,
                    tag: Self.first("ETag", in: entry) ?? "",
                    modified: Self.first("LastModified", in: entry) ?? ""))
        }
    }

    private static func first(_ name: String, in text: Substring) -> String? {
        guard let start = text.firstRange(of: "<\(name)>"),
            let end = text[start.upperBound...].firstRange(of: "</\(name)>")
        else { return nil }
        return XMLElement.plain(text[start.upperBound..<end.lowerBound])
    }
}
