// SPDX-License-Identifier: Apache-2.0

/// How to recognise a value of one kind.
package struct ValueSelector: Sendable, Hashable {
    var condition: ValueCondition
    var kind: ValueKind
    var textPaths: [JSONPath]?
    /// How its text joins what was understood before; nil for how the kind does it.
    var merge: TextMerge?

    init(
        _ place: ValueCondition.Place, _ test: ValueCondition.Test, is kind: ValueKind,
        textPaths: [JSONPath]? = nil, merge: TextMerge? = nil
    ) {
        condition = ValueCondition(place, test)
        self.kind = kind
        self.textPaths = textPaths
        self.merge = merge
    }

    init(path: JSONPath, test: ValueCondition.Test, kind: ValueKind) {
        self.init(.path(path), test, is: kind)
    }

    init(
        _ name: String, equals text: String, is kind: ValueKind,
        textPaths: [JSONPath]? = nil, merge: TextMerge? = nil
    ) {
        self.init(
            .path(JSONPath(names: name)), .equals(.string(text)), is: kind, textPaths: textPaths,
            merge: merge)
    }
}

package enum TextMerge: String, Sendable, Hashable, CaseIterable {
    /// A partial replaces the partial; a final replaces all that was final, too.
    case replace
    /// The partial goes on with it, without a space.
    case append
    /// It follows what is final, after a space.
    case accumulate
}

package enum ValueKind: String, Sendable, Hashable, CaseIterable {
    /// What is being said; may still change.
    case partial
    case final
    /// A partial that becomes a final when the answer ends and no final has come after it.
    case provisional
    /// Text that was said before in another form: provisional while there is no final, else
    /// ignored.
    case restatement
    case segment
    case failure
    case ignored
    case end
}
