// SPDX-License-Identifier: Apache-2.0

package import TakeStore

/// Finds the takes without a mark by two sorted listings, each of which is read once.
///
/// It holds one name of each. A listing that is not in order, as a store or a clock may have it, costs
/// a look at the mark itself, and never a wrong answer.
package struct ListingMerge {
    package enum Finding: Sendable, Equatable {
        case marked, open
        /// The listings do not say.
        case unsure
    }

    private var lastTake = ""
    private var mark = ""
    private var isExhausted = false
    private var isDisordered = false

    package init() {}

    /// Looks for the mark of the next take of the listing.
    ///
    /// - Parameters:
    ///   - take: the take.
    ///   - next: the next name of the listing of marks; nil at its end.
    /// - Returns: what the listings say.
    /// - Throws: what `next` throws.
    package mutating func finding<Failure: Error>(
        of take: TakeID, next: () throws(Failure) -> TakeID?
    ) throws(Failure) -> Finding {
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
package struct ListingReader: ~Copyable {
    private let store: ObjectStore
    private let beginning: String
    private var last: String?
    private var page: ArraySlice<ListedObject> = []
    private var isOver = false

    /// Reads the objects whose names begin like this, behind `last`.
    package init(_ store: ObjectStore, _ beginning: String, after last: String? = nil) {
        (self.store, self.beginning, self.last) = (store, beginning, last)
    }

    package mutating func next() throws(StoreFailure) -> ListedObject? {
        while page.isEmpty, !isOver {
            let found = try store.page(of: beginning, after: last)
            page = found.objects[...]
            isOver = found.isLast
            last = found.objects.map(\.key).max() ?? last
        }
        return page.popFirst()
    }
}
