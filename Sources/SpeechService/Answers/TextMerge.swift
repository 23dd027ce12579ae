// SPDX-License-Identifier: Apache-2.0

/// How a text joins what was understood before it.
package enum TextMerge: String, Sendable, Hashable, CaseIterable {
    /// A partial replaces the partial; a final replaces all that was final, too.
    case replace
    /// The partial goes on with it, without a space.
    case append
    /// It stays behind what is final, after a space.
    case accumulate
}
