// SPDX-License-Identifier: Apache-2.0

/// What a value of an answer is.
package enum ValueKind: String, Sendable, Hashable, CaseIterable {
    /// What is being said; may still change.
    case partial
    /// Stays, and ends the partial.
    case final
    /// A partial that becomes a final when the answer ends and no final has come after it.
    case provisional
    /// Text that was said before in another form: provisional while there is no final, else
    /// ignored.
    case restatement
    /// A piece of the text with its times or its speaker, beside the text itself.
    case segment
    /// The service has failed; the value says why.
    case failure
    /// Says nothing about the text.
    case ignored
    /// The last value: what follows says nothing.
    case end
}
