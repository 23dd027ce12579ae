// SPDX-License-Identifier: Apache-2.0

/// Where a service puts what it says about a failure, before the places where most services do.
package struct ErrorPlaces: Sendable, Hashable {
    /// Where its words are; the first that has some counts.
    var messages: [JSONPath]
    /// Fields of the response's head that have them, before the body; names in lower case.
    var messageHeaders: [String]
    package var codes: [JSONPath]

    init(
        messages: [JSONPath] = [], messageHeaders: [String] = [], codes: [JSONPath] = []
    ) {
        self.messages = messages
        self.messageHeaders = messageHeaders
        self.codes = codes
    }

    /// The words in a head: one line of at most 200 bytes, harmless to a terminal; nil for none.
    package func message(in head: AnswerHead) -> String? {
        messageHeaders.lazy.compactMap(head.header).compactMap { JSONValue.string($0).label }
            .first { !$0.isEmpty }
    }
}
