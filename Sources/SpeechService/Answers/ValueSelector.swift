// SPDX-License-Identifier: Apache-2.0

struct ValueSelector: Sendable, Hashable {
    var condition: ValueCondition
    var kind: ValueKind
    var textPaths: [JSONPath]?
    /// How a text joins the ones before it; nil: in the kind's own way.
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

    init(
        _ name: String, _ test: ValueCondition.Test, is kind: ValueKind,
        textPaths: [JSONPath]? = nil, merge: TextMerge? = nil
    ) {
        self.init(
            .path(JSONPath(dotted: name)), test, is: kind, textPaths: textPaths, merge: merge)
    }

    init(
        type: String, is kind: ValueKind, textPaths: [JSONPath]? = nil, merge: TextMerge? = nil
    ) {
        self.init(
            "type", .equals(.string(type)), is: kind, textPaths: textPaths, merge: merge)
    }
}

enum TextMerge: String, Sendable, Hashable, CaseIterable {
    /// A final replaces all finals, too.
    case replace
    /// Without a space.
    case append
    /// After a space.
    case accumulate
}

enum ValueKind: String, Sendable, Hashable, CaseIterable {
    /// May still change.
    case partial
    case final
    /// A final behind which nothing comes.
    case last
    /// A partial that becomes a final when the answer ends without one after it.
    case provisional
    /// Repeats earlier text in another form: provisional without a final, else ignored.
    case restatement
    case segment
    case failure
    case ignored
    case end
}
