// SPDX-License-Identifier: Apache-2.0

/// Does many things, a few side by side, and gathers what each has to say.
package func inLanes<Item: Sendable>(
    _ count: Int, _ items: [Item], _ body: @escaping @Sendable (Item) async throws -> [String]
) async throws -> [String] {
    try await withThrowingTaskGroup(of: [String].self) { group in
        var rest = items[...]
        var all: [String] = []
        for item in rest.prefix(count) { group.addTask { try await body(item) } }
        rest = rest.dropFirst(count)
        while let found = try await group.next() {
            all += found
            if let item = rest.popFirst() { group.addTask { try await body(item) } }
        }
        return all
    }
}
