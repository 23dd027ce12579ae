// SPDX-License-Identifier: Apache-2.0

/// A mark by which values of a kind are known.
package struct ValueSelector: Sendable, Hashable {
    /// What is true of values of this kind.
    package var condition: ValueCondition
    /// What a value with this mark is.
    package var kind: ValueKind
    /// Where its text is; nil for where it is in all values.
    package var textPaths: [JSONPath]?
    /// How its text joins what was understood before; nil for how the kind does it.
    package var merge: TextMerge?

    /// Creates a selector.
    package init(
        _ place: ValueCondition.Place, _ test: ValueCondition.Test, is kind: ValueKind,
        textPaths: [JSONPath]? = nil, merge: TextMerge? = nil
    ) {
        condition = ValueCondition(place, test)
        self.kind = kind
        self.textPaths = textPaths
        self.merge = merge
    }

    /// Creates a selector for values at a path.
    package init(path: JSONPath, test: ValueCondition.Test, kind: ValueKind) {
        self.init(.path(path), test, is: kind)
    }

    /// Creates a selector for a member with this string.
    init(
        _ name: String, equals text: String, is kind: ValueKind,
        textPaths: [JSONPath]? = nil, merge: TextMerge? = nil
    ) {
        self.init(
            .path(JSONPath(names: name)), .equals(.string(text)), is: kind, textPaths: textPaths,
            merge: merge)
    }
}
