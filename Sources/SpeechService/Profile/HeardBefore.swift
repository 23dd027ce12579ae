// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The text and the language of a recording before the part that a request carries.
package struct HeardBefore: Sendable, Hashable {
    /// The end of its text.
    package let tail: String?
    /// Its language, as the service is told it.
    package let language: String?

    package init(tail: String? = nil, language: String? = nil) {
        (self.tail, self.language) = (tail, language)
    }
}

extension RecognitionService {
    /// Whether the body has a place for the end of the text before.
    package var wantsTail: Bool {
        guard let use else { return false }
        let fields = use.profile.body.fields + use.format.fields
        let documents = [use.profile.body.template] + (use.profile.socket?.texts ?? [])
        return fields.contains { $0.value.words.contains(ProfileWord.tail) }
            || documents.contains { WordTemplate($0).words.contains(ProfileWord.tail) }
    }

    /// The language that is said of the rest of a recording in which another request has heard it; nil
    /// where a person has said one, the service is told none, or writes it in another way.
    package func language(heard: String?) -> String? {
        guard let heard, let use, use.words["language"] == nil,
            let word = use.profile.words.first(where: { $0.name == "language" }),
            word.standard == nil, word.takes(heard)
        else { return nil }
        let parts = heard.split(separator: "-", omittingEmptySubsequences: false)
        let wantsRegion = word.form?.contains { $0 == "-" || $0 == "_" } ?? false
        let isTag = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(\.isLetterOrDigit) }
        return isTag && (2...3).contains(parts[0].utf8.count) && (!wantsRegion || parts.count > 1)
            ? heard : nil
    }

    /// This service, as it is asked for a part of a recording.
    package func asked(after before: HeardBefore) -> RecognitionService {
        guard before != HeardBefore(), let use else { return self }
        var words = use.words
        words["language"] = words["language"] ?? before.language
        let profile = use.profile
        // The values have been taken before, so that nothing is refused.
        let plain = try? profile.service(words: use.words, format: use.format)
        // Likewise.
        let new = try? profile.service(words: words, format: use.format, tail: before.tail)
        guard let plain, let told = new else { return self }
        var service = self
        (service.body, service.socket) = (told.body, told.socket)
        if naming(plain.url) == url, plain.url.origin == told.url.origin {
            service.url = naming(told.url)
        }
        service.headers.removeAll { plain.headers.contains($0) && !told.headers.contains($0) }
        service.headers += told.headers.filter { !plain.headers.contains($0) }
        return service
    }
}
