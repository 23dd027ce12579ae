// SPDX-License-Identifier: Apache-2.0

/// Where a service puts what it says about a failure, before the places where most services do.
package struct ErrorPlaces: Sendable, Hashable {
    /// Where its words are; the first that has some counts.
    package var messages: [JSONPath]
    /// Where its short name or number of the error is.
    package var codes: [JSONPath]

    /// Creates places.
    package init(messages: [JSONPath] = [], codes: [JSONPath] = []) {
        self.messages = messages
        self.codes = codes
    }
}
