// SPDX-License-Identifier: Apache-2.0

/// What services say when they have understood nothing: that there was no speech, or why not.
enum NoSpeech {
    /// Azure's, in answers without a text.
    private static let statuses: Set<String> = [
        "NoMatch", "InitialSilenceTimeout", "BabbleTimeout",
    ]
    /// Words in the place of a message that say that all is well.
    private static let praise: Set<String> = ["ok", "success", "succeeded", "done"]

    static func isSaid(by value: JSONValue) -> Bool {
        value["RecognitionStatus"]?.string.map(statuses.contains) ?? false
    }

    /// What an answer without words complains of, or nil.
    static func complaint(in value: JSONValue, at places: ErrorPlaces) -> String? {
        guard case .object = value, !isSaid(by: value),
            let message = ServiceMessage.extract(from: value, at: places),
            !praise.contains(message.lowercased().filter(\.isLetter))
        else { return nil }
        return message
    }
}
