// SPDX-License-Identifier: Apache-2.0

internal import Cassettes
internal import Synchronization

final class CassetteTape: Sendable {
    private let cassettes: [Cassette]
    private let next = Mutex(0)

    init(_ cassettes: [Cassette]) {
        precondition(!cassettes.isEmpty)
        self.cassettes = cassettes
    }

    /// Takes the next cassette if the request is the one that it wants; otherwise it stays.
    ///
    /// - Returns: the cassette, its number, and what differs.
    func take(
        method: String, target: String, headers: [CassetteField]
    ) -> (cassette: Cassette, number: Int, differences: [String]) {
        next.withLock { next in
            let number = next
            let differences = cassettes[number].request.differences(
                method: method, target: target, headers: headers)
            if differences.isEmpty { next = (next + 1) % cassettes.count }
            return (cassettes[number], number, differences)
        }
    }

    /// The text with this server's origin in place of those of the cassettes' requests: what an
    /// answer names, such as the URL of a job, is asked for here.
    func relocated(_ text: String, to origin: String) -> String {
        Set(cassettes.map(\.request.origin)).reduce(text) { text, old in
            old.isEmpty ? text : text.replacing(old, with: origin)
        }
    }
}
