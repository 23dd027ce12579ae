// SPDX-License-Identifier: Apache-2.0

/// What may be written for a value, by the name that help gives it.
enum ValueForm {
    private static let forms = [
        "time": "a time: write 5s, 1m30s, 500ms or 1:30",
        "size": "a size: write 500M, 4G or a number of bytes",
        "pace": "a pace: write realtime, max or a factor from 0.1 to 1000",
        "rate": "a rate: write 4x, 64k or a number of bytes a second",
        "hertz": "a rate: write a number of Hz, such as 48000",
        "count": count, "jobs": count, "limit": count, "max-recognitions": count,
        "port": "a port: write a number from 0 to 65535",
        "max-body": "a size: write a number of bytes",
        "older": age, "max-age": age, "age": age,
    ]
    private static let count = "a count: write a number, such as 2"
    private static let age = "an age: write a number with its unit, such as 7d, 12h or 30m"

    /// Whether a value begins as a number below zero does.
    static func isNegative(_ value: Substring) -> Bool {
        value.hasPrefix("-") && value.dropFirst().first { $0 != "." }?.isNumber == true
    }

    /// The parser's words about a value, in ours.
    ///
    /// - Parameter message: what the parser says.
    /// - Returns: nil when that is about something else.
    static func explanation(of message: String) -> String? {
        // The value 'abc' is invalid for '--for <time>'[: reason][. Please provide one of a or b.]
        let head = "The value '"
        let middle = "' is invalid for '"
        guard message.hasPrefix(head), let joint = message.ranges(of: middle).last else {
            return nil
        }
        let value = message[..<joint.lowerBound].dropFirst(head.count)
        let parts = message[joint.upperBound...].split(
            separator: "'", maxSplits: 1, omittingEmptySubsequences: false)
        let words = parts[0].split(separator: " ")
        guard let option = words.first, let name = words.last, parts.count == 2 else { return nil }
        // An argument has no name that a person types.
        let typed = (option.hasPrefix("<") ? "" : "\(option): ") + "'\(value)' is "
        if let form = forms[String(name.filter { $0 != "<" && $0 != ">" })] {
            let cure = form.drop { $0 != ":" }
            return typed + (isNegative(value) ? "below zero\(cure)" : "not \(form)")
        }
        let choice = parts[1].split(separator: "Please provide one of ").last
        guard parts[1].hasPrefix(". Please"), let choice else { return nil }
        // Of many the parser makes a list, one a line.
        let listed = choice.split(separator: "\n").dropFirst().map {
            "'\($0.drop { " -".contains($0) })'"
        }
        if let last = listed.last {
            let others = listed.dropLast().joined(separator: ", ")
            return typed + "not known: write \(others) or \(last)"
        }
        let choices = choice.last == "." ? choice.dropLast() : choice
        return typed + "not known: write " + choices.replacing("' and '", with: "' or '")
    }
}
