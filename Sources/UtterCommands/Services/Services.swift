// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// The services as a person's settings have them: profiles of their own, and those that ship.
enum Services {
    static var folder: String { Environment.configurationFolder + "/profiles" }

    private static var profiles: Profiles { .shipped + .folder(folder) }

    /// Finds the profile that a person names, or that stands in the file of a path.
    static func profile(_ name: String) throws(CommandFailure) -> ServiceProfile {
        do throws(ProfileError) {
            return try profiles.profile(name)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The profile of a service as the person's settings mean it; a failure names the place in the file
    /// if that is to blame, and no option (`isOption`) or variable.
    static func profile(
        named name: String, isOption: Bool
    ) throws(CommandFailure) -> ServiceProfile {
        let configuration = try Configuration.current()
        let settings = configuration.services[name]
        do throws(CommandFailure) {
            return try profile(settings?.profile ?? name)
        } catch {
            let setting = KnownSettings.service
            if let place = settings?.place { throw error.standing(at: place) }
            guard !isOption, try setting.variableText() == nil else { throw error }
            throw error.standing(at: configuration[setting.name]?.place)
        }
    }

    /// The names of all profiles: the person's own, then the others.
    static var names: [String] { profiles.names }
}
