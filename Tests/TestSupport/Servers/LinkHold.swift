// SPDX-License-Identifier: Apache-2.0

/// A request at which a link falls silent, told by its first line.
///
/// A client that sends nothing while it waits for an answer begins each request with a write.
package struct LinkHold: Sendable, Hashable {
    /// What does not pass any more: the request itself, or the answer to it, once it is there.
    package let direction: LinkFault.Direction
    private let method: [UInt8]
    private let query: [UInt8]

    package init(_ method: String, _ query: String, _ direction: LinkFault.Direction) {
        self.direction = direction
        self.method = Array("\(method) ".utf8)
        self.query = Array(query.utf8)
    }

    func isBegun(by bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.starts(with: method) else { return false }
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") }
        return line.indices.contains { line[$0...].starts(with: query) }
    }
}
