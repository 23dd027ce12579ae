// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs

/// A profile, and what a person says with it.
package struct ProfileUse: Sendable, Hashable {
    package let profile: ServiceProfile
    /// The values of the words, by their names.
    package let words: [String: String]
    package let format: ProfileFormat

    /// A codec of nil is the service's best.
    package init(
        _ profile: ServiceProfile, words: [String: String], codec: AudioCodec?
    ) throws(ProfileError) {
        self.init(profile, words: words, format: try profile.format(codec))
    }

    init(_ profile: ServiceProfile, words: [String: String], format: ProfileFormat) {
        (self.profile, self.words, self.format) = (profile, words, format)
    }
}
