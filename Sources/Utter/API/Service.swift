// SPDX-License-Identifier: Apache-2.0

public import AudioCodecs
public import SpeechService

/// A speech service, and what is said to it: by a profile, or by a plain description.
///
/// It names no secret: the pipeline asks its owner for what the service needs, while the take records
/// (`SecretProvider`).
public struct Service: Sendable {
    /// A plan is large, and is copied with each take.
    @Boxed private var plan: DeliveryPlan

    /// Describes a service by the name of its profile.
    ///
    /// Blocks on the disk where `profiles` is a folder.
    ///
    /// - Parameters:
    ///   - name: the profile's; with a slash or the ending `.toml`, the path of a file.
    ///   - words: what is said to it, such as `language`, by the names of its words.
    ///   - format: how the audio travels; nil: what the service reads best.
    ///   - token: where the token comes from; nil: where the profile says, and none for a service
    ///     that does without.
    ///   - profiles: where the profile is looked for.
    /// - Throws: `ProfileError` when there is no such profile, or it lacks what is said.
    public init(
        _ name: String, words: [String: String] = [:], format: AudioCodec? = nil,
        token: SecretSource? = nil, profiles: Profiles = .shipped
    ) throws(ProfileError) {
        try self.init(
            try profiles.profile(name), words: words, format: format, token: token)
    }

    /// Describes a service by its profile; the rest is as above.
    ///
    /// - Throws: `ProfileError` when it lacks what is said.
    public init(
        _ profile: ServiceProfile, words: [String: String] = [:], format: AudioCodec? = nil,
        token: SecretSource? = nil
    ) throws(ProfileError) {
        var plan = try DeliveryPlan(ProfileUse(profile, words: words, codec: format))
        for index in plan.service.authentication.parts.indices {
            let part = plan.service.authentication.parts[index]
            plan.service.authentication.parts[index].source =
                part.isRequired ? part.source ?? .given : nil
        }
        var offers = SecretOffers()
        offers.token = token
        do throws(SecretRefusal) {
            try plan.addSecrets(offers)
        } catch {
            throw .unusable(
                .invalidCredential(reason: error.description), service: profile.title)
        }
        self.plan = plan
    }

    /// Takes over a plan with all that it says: one that was changed for other takes, or that
    /// describes a service without a profile.
    public init(_ plan: DeliveryPlan) { self.plan = plan }

    /// The profile, if there is one.
    public var profile: ServiceProfile? { delivery.profile?.profile }

    /// How takes are sent to it, to be changed for one take.
    public var delivery: DeliveryPlan { plan }
}
