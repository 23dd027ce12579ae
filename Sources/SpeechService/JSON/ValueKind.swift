// SPDX-License-Identifier: Apache-2.0

/// What a value of a sequence is.
public enum ValueKind: Sendable, Hashable {
    /// Replaces the partial before it.
    case partial
    /// Stays, and ends the partial.
    case final
    /// A partial that becomes a final when the stream ends and no final has come after it.
    case provisional
    /// Text that was said before in another form: provisional while there is no final, else
    /// ignored.
    case restatement
    /// The service has failed; the value says why.
    case failure
    /// Says nothing about the text.
    case ignored
}
