// SPDX-License-Identifier: Apache-2.0

internal import Settings
internal import Utter
internal import UtterSettings

extension ServiceSettings {
    /// The profile with what the file says over it.
    func completing(_ profile: ServiceProfile) throws(CommandFailure) -> ServiceProfile {
        do throws(SettingsError) {
            return try laid(over: profile)
        } catch {
            throw CommandFailure(ReadingError(error, of: ConfigurationFile.path))
        }
    }

    /// Demands that there is the profile, and that it has what is said to it.
    func check() throws(CommandFailure) {
        let service: ServiceProfile
        do throws(CommandFailure) {
            service = try completing(Services.profile(profile))
        } catch {
            throw error.standing(at: place)
        }
        try check(words, of: service)
        if let url {
            do throws(ServiceError) {
                _ = try ServiceURL(TokenMark(in: url.text).url)
            } catch {
                var failure = CommandFailure(error, in: urlName)
                failure.status = .configuration
                throw failure
            }
        }
        if let format, let codec = AudioCodec(rawValue: format.text) {
            do throws(ProfileError) {
                _ = try service.format(codec)
            } catch {
                throw CommandFailure(error).standing(at: format.place)
            }
        }
    }

    private func check(
        _ words: [String: Configuration.Entry], of service: ServiceProfile
    ) throws(CommandFailure) {
        for (name, entry) in words.sorted(by: { $0.key < $1.key }) {
            do throws(ProfileError) {
                guard let word = service.words.first(where: { $0.name == name }) else {
                    throw .unknownWord(
                        name, service: service.title, known: service.words.map(\.name))
                }
                _ = try word.value(for: entry.text, of: service.title)
            } catch {
                throw CommandFailure(error).standing(at: entry.place)
            }
        }
    }
}
