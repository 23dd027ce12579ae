// SPDX-License-Identifier: Apache-2.0

/// A service's book of the takes it has committed: complete requests, well framed.
///
/// It knows a take again by its id, its length and its bytes, never by the id alone.
package final class TakeLedger: Sendable {
    package struct Entry: Sendable {
        package var id: String
        package var body: [UInt8]
        /// The numbers of the attempts that brought it whole.
        package var attempts: [String]
    }

    private let content = Observed([Entry]())

    package init() {}

    package var entries: [Entry] { content.value }

    /// Writes a complete request down, and answers with how many takes there are of that id.
    package func answer(_ request: RecordedRequest) -> ServerAnswer {
        guard request.isComplete, request.framingErrors.isEmpty else {
            return ServerAnswer(status: 400, text: "not whole")
        }
        let id = request["Idempotency-Key"] ?? ""
        let attempt = request["Utter-Attempt"] ?? ""
        let isReplay = content.update { entries in
            let known = entries.firstIndex { $0.id == id && $0.body == request.body }
            if let known {
                entries[known].attempts.append(attempt)
            } else {
                entries.append(Entry(id: id, body: request.body, attempts: [attempt]))
            }
            return known != nil
        }
        return ServerAnswer(
            headers: isReplay ? [HeaderField("Idempotent-Replayed", "true")] : [],
            text: "take \(id)")
    }

    /// Reads a whole request, then answers by this book.
    package var script: [ServerStep] {
        [.readHead, .readBodyToEnd, .respondBy { self.answer($0) }]
    }
}
