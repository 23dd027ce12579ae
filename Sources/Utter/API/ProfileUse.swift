// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
package import SpeechService
internal import TakeStore

/// A profile, and what a person says with it; plans that are copied share one.
package final class ProfileUse: Sendable {
    package let profile: ServiceProfile
    /// What is said, by the names of the words.
    package let words: [String: String]
    package let format: ProfileFormat

    /// A codec of nil is the service's best.
    package init(
        _ profile: ServiceProfile, words: [String: String], codec: AudioCodec?
    ) throws(ProfileError) {
        self.profile = profile
        self.words = words
        format = try profile.format(codec)
    }
}

extension DeliveryPlan {
    /// Makes the plan that a profile describes, without its secrets.
    package init(_ use: ProfileUse) throws(ProfileError) {
        let profile = use.profile
        self.init(
            service: try profile.service(words: use.words, format: use.format),
            format: use.format.codec, redirectOrigins: profile.transfer.redirectOrigins)
        let transfer = profile.transfer
        framing = use.format.framing ?? transfer.framing ?? .auto
        if let name = transfer.idHeader { idHeader = name }
        if let connect = transfer.connect { deadlines.connect = connect }
        if let answer = transfer.answer { deadlines.answer = answer }
        if let stall = transfer.stall { deadlines.stall = stall }
        allowsSecretsInClear = transfer.allowsSecretsInClear
        catchUpRate = transfer.catchUpRate
        if service.retry.isNever { retry = .never }
        retry.unknownOutcome = service.retry.unknownOutcome ?? .resend
        self.profile = use
    }
}

extension ProfileUse {
    var record: DeliveryManifest.Profile {
        DeliveryManifest.Profile(
            texts: profile.texts.map { .init(name: $0.name, text: $0.text) }, words: words,
            format: format.codec.name)
    }

    /// Reads what a take remembers; what is said now counts more, and of that the first text.
    convenience init(
        _ record: DeliveryManifest.Profile, overriding texts: [ProfileText] = [],
        words: [String: String] = [:], codec: AudioCodec? = nil
    ) throws(ProfileError) {
        let known = record.texts.map { ProfileText(name: $0.name, text: $0.text) }
            .filter { old in !texts.contains { ($0.name, $0.text) == (old.name, old.text) } }
        let profile = try ServiceProfile.reading(texts + known)
        try self.init(
            profile, words: record.words.merging(words) { _, new in new },
            codec: codec ?? AudioCodec(rawValue: record.format))
    }
}

extension DeliveryManifest.Profile {
    /// What is remembered of a service that is known by its URL alone.
    init(plain url: String, format: String) {
        let plain = ProfileText(plainFor: url)
        self.init(
            texts: [.init(name: plain.name, text: plain.text)], words: [:], format: format)
    }

    /// The name of the profile; nil where the service is known by its URL alone.
    package var name: String? {
        texts.first { !ProfileText(name: $0.name, text: "").isOverriding }?.name
    }
}
