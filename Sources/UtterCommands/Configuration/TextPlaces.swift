// SPDX-License-Identifier: Apache-2.0

/// What the setting `output.to` says: places that need no name.
struct TextPlaces: Sendable {
    private static let known: [String: TextSink] = [
        "stdout": .standardOutput, "copy": .clipboard, "type": .keyboard,
    ]

    let sinks: [TextSink]

    /// Reads words with commas between them; nil when one is not known.
    init?(_ text: String) {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.filter { $0 != " " } }
        let sinks = words.compactMap { Self.known[String($0)] }
        guard sinks.count == words.count else { return nil }
        self.sinks = sinks
    }
}
