// SPDX-License-Identifier: Apache-2.0

public import Testing

/// Names the rule of a document that a test holds us to; the test's report shows it.
public struct SpecTrait: TestTrait, SuiteTrait {
    /// The document and its section, such as "RFC 9112 §7.1".
    public let rule: String

    /// What the test's report shows.
    public var comments: [Comment] { [Comment(rawValue: rule)] }

    /// A suite's rule holds for each of its tests.
    public var isRecursive: Bool { true }
}

extension Trait where Self == SpecTrait {
    /// Names the rule of a document that this test holds us to.
    public static func spec(_ rule: String) -> SpecTrait { SpecTrait(rule: rule) }
}
