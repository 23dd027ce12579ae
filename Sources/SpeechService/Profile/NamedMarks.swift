// SPDX-License-Identifier: Apache-2.0

/// Fills the marks of a text, such as `{id}`, with values.
package enum NamedMarks {
    /// The text with values in place of its marks.
    ///
    /// What stands in braces and is no name, as in JSON, stays as it is.
    ///
    /// - Parameters:
    ///   - text: the text; a name in it is made of letters, digits, `-` and `_`.
    ///   - value: the value of a name, as it is to stand there; nil leaves the mark.
    /// - Returns: the text with the values in it.
    package static func filled(_ text: String, _ value: (String) -> String?) -> String {
        var filled = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "{") {
            filled += rest[..<start]
            rest = rest[start...]
            let name = rest.dropFirst().prefix(while: isOfName)
            let end = name.endIndex
            guard !name.isEmpty, end < rest.endIndex, rest[end] == "}",
                let value = value(String(name))
            else {
                filled.append(rest.removeFirst())
                continue
            }
            filled += value
            rest = rest[rest.index(after: end)...]
        }
        return filled + rest
    }

    /// The names of the marks in a text, in order.
    package static func names(in text: String) -> [String] {
        var names: [String] = []
        _ = filled(text) { name in
            names.append(name)
            return nil
        }
        return names
    }

    private static func isOfName(_ character: Character) -> Bool {
        character.isASCII
            && (character.isLetter || character.isNumber || character == "-" || character == "_")
    }
}
