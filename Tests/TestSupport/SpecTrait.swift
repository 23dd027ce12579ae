// SPDX-License-Identifier: Apache-2.0

package import Testing

/// Names the rule of a document that a test holds us to; the test's report shows it.
package struct SpecTrait: TestTrait, SuiteTrait {
    /// The document and its section, such as "RFC 9112 §7.1".
    package let rule: String

    /// What the test's report shows.
    package var comments: [Comment] { [Comment(rawValue: rule)] }

    /// A suite's rule holds for each of its tests.
    package var isRecursive: Bool { true }
}

extension Trait where Self == SpecTrait {
    /// Names the rule of a document that this test holds us to.
    package static func spec(_ rule: String) -> SpecTrait { SpecTrait(rule: rule) }
}
