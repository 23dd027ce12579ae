// SPDX-License-Identifier: Apache-2.0

/// Where a service puts what it says about a failure, before the places where most services do.
public struct ErrorPlaces: Sendable, Hashable {
    /// Where its words are; the first that has some counts.
    public var messages: [JSONPath]
    /// Where its short name or number of the error is.
    public var codes: [JSONPath]

    /// Creates places.
    public init(messages: [JSONPath] = [], codes: [JSONPath] = []) {
        self.messages = messages
        self.codes = codes
    }
}
