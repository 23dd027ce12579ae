// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Utter

/// Which service is asked by its name, and what is said to it.
struct ProfileOptions: ParsableArguments {
    init() {}

    @Option(
        help: ArgumentHelp(
            "The service by its name, of which 'utter services' lists all, or a file that describes "
                + "it. Otherwise UTTER_SERVICE.", valueName: "name"),
        completion: .services)
    var service: String?

    @Option(
        help: ArgumentHelp("The language that is spoken, such as en.", valueName: "language"))
    var language: String?

    @Option(help: ArgumentHelp("The service's model.", valueName: "model"))
    var model: String?

    @Option(
        help: ArgumentHelp(
            "What helps the service to understand: names, spellings, a topic.",
            valueName: "text"))
    var prompt: String?

    @Option(
        help: ArgumentHelp(
            "Another word of the service, such as region=eu; 'utter services show NAME' lists them.",
            valueName: "word=value", visibility: .hidden))
    var set: [String] = []

    mutating func validate() throws {
        for text in set where Self.pair(text) == nil {
            throw ValidationError("--set: '\(text)' is not WORD=VALUE, such as region=eu.")
        }
    }

    /// What these options say, by the names of the words.
    var words: [String: String] {
        var words: [String: String] = [:]
        for (name, value) in set.compactMap(Self.pair) { words[name] = value }
        if let language { words["language"] = language }
        if let model { words["model"] = model }
        if let prompt { words["prompt"] = prompt }
        return words
    }

    var isGiven: Bool { service != nil || !words.isEmpty }

    private static func pair(_ text: String) -> (name: String, value: String)? {
        guard let sign = text.firstIndex(of: "="), WordTemplate.isName(text[..<sign]) else {
            return nil
        }
        return (String(text[..<sign]), String(text[text.index(after: sign)...]))
    }
}
