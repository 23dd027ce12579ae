// SPDX-License-Identifier: Apache-2.0

extension JSONPath {
    /// Members that hold what was said, in services that are known.
    private static let usualNames: Set<String> = [
        "text", "transcript", "transcription", "display", "displaytext", "utterance", "result",
        "sentence", "lexical", "content",
    ]
    /// Arrays whose elements are several readings of the same words.
    private static let alternatives: Set<String> = [
        "alternatives", "alternative", "hypotheses", "nbest", "n_best", "candidates",
    ]
    /// More values than this are not looked at, and more places not told.
    private static let valueLimit = 10_000
    private static let placeLimit = 100

    /// The places in a value at which there is text that may be a transcript, the likeliest first.
    ///
    /// Text has words, or stands in a member whose name says so. Where several elements of an array
    /// have text at the same place, and are no readings of the same words, the path names them all.
    static func placesOfText(in value: JSONValue) -> [JSONPath] {
        var found: [(path: JSONPath, rank: Int)] = []
        var left = valueLimit
        search(value, at: JSONPath(), isUsual: false, &left, &found)
        return found.enumerated().sorted { one, two in
            one.element.rank == two.element.rank
                ? one.offset < two.offset : one.element.rank > two.element.rank
        }.prefix(placeLimit).map(\.element.path)
    }

    private static func search(
        _ value: JSONValue, at path: JSONPath, isUsual: Bool, _ left: inout Int,
        _ found: inout [(path: JSONPath, rank: Int)]
    ) {
        guard left > 0 else { return }
        left -= 1
        switch value {
        case .string(let text):
            let words = text.split(whereSeparator: \.isWhitespace).count
            if isUsual, !text.isEmpty {
                found.append((path, 2))
            } else if words > 1 {
                found.append((path, 1))
            }
        case .array(let elements):
            guard let first = elements.first else { return }
            let known = found.count
            search(first, at: path.element(0), isUsual: isUsual, &left, &found)
            if case .name(let name)? = path.steps.last, alternatives.contains(name.lowercased()) {
                return
            }
            for index in found[known...].indices {
                let rest = JSONPath(
                    steps: Array(found[index].path.steps[(path.steps.count + 1)...]))
                let isElsewhere = elements.dropFirst().contains {
                    rest.values(in: $0).contains { $0.string?.isEmpty == false }
                }
                guard isElsewhere else { continue }
                found[index].path = JSONPath(steps: path.steps + [.all] + rest.steps)
            }
        case .object(let members):
            for member in members {
                search(
                    member.value, at: path.member(member.name),
                    isUsual: usualNames.contains(member.name.lowercased()), &left, &found)
            }
        case .null, .bool, .number: return
        }
    }
}
