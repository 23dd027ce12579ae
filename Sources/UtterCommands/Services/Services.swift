// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Settings
package import Utter

/// The profiles that a person can name: their own files, and those that come with the program.
package enum Services {
    package static var folder: String { Environment.configurationFolder + "/profiles" }

    /// Finds the profile that a person names.
    ///
    /// - Parameter name: its name, or the path of a file (`isPath`).
    /// - Returns: the profile.
    /// - Throws: `CommandFailure` when there is none, or when it cannot be used.
    package static func profile(_ name: String) throws(CommandFailure) -> ServiceProfile {
        let texts: [ProfileText]
        do {
            if isPath(name) {
                texts = try ProfileChain.texts(of: file(name), in: shelves)
            } else if let found = try ProfileChain.texts(of: name, in: shelves) {
                texts = found
            } else {
                throw try unknown(name)
            }
        } catch {
            throw failure(error, name)
        }
        do throws(ProfileError) {
            return try .reading(texts)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The profile of a service as the person's settings mean it.
    ///
    /// - Parameters:
    ///   - name: the service's.
    ///   - isOption: whether an option names it, or else a variable or the file.
    /// - Returns: the profile.
    /// - Throws: `CommandFailure`, with the place in the file if that is to blame.
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

    /// Whether a text that names a profile is the path of a file.
    static func isPath(_ name: String) -> Bool { name.contains("/") || name.hasSuffix(".toml") }

    /// The names of all profiles: the person's own, then the others.
    package static func names() throws(CommandFailure) -> [String] {
        let own = ownNames()
        return own + ShippedProfiles.names.filter { !own.contains($0) }
    }

    // MARK: - Shelves

    private static let shelves: [ProfileChain.Shelf] = [
        { name in
            guard isName(name) else { return nil }
            let path = "\(folder)/\(name).toml"
            return try SettingsFile(path: path).text().map {
                ProfileText(name: name, place: path, text: $0)
            }
        },
        { ShippedProfiles.text(of: $0) },
    ]

    private static func file(_ path: String) throws(CommandFailure) -> ProfileText {
        guard let text = try SettingsFile(path: path).text() else {
            throw CommandFailure("there is no file '\(path)'", status: .noInput)
        }
        var name = path.split(separator: "/").last.map(String.init) ?? path
        if name.hasSuffix(".toml") { name.removeLast(5) }
        return ProfileText(name: name, place: path, text: text)
    }

    /// The names of the files in the person's folder; none when there is no folder.
    private static func ownNames() -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let file = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            guard file.hasSuffix(".toml"), isName(String(file.dropLast(5))) else { continue }
            names.append(String(file.dropLast(5)))
        }
        return names.sorted()
    }

    /// Whether a text can be the name of a profile, and so of a file.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && !text.hasPrefix(".") && text.utf8.count < 100
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"),
                    UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    // MARK: - Failures

    private static func unknown(_ name: String) throws(CommandFailure) -> CommandFailure {
        let near = EditDistance.nearest(to: name, among: try names())
        return CommandFailure(
            "there is no service '\(TerminalText.shown(name))'"
                + (near.map { "; did you mean '\($0)'?" } ?? ""),
            hint: "see 'utter services'; describe another one with: utter services new NAME",
            status: .usage)
    }

    private static func failure(_ error: any Error, _ name: String) -> CommandFailure {
        if let failure = error as? CommandFailure { return failure }
        let text = (error as? SettingsError)?.text(of: name) ?? "\(error)"
        return CommandFailure(text, hint: "correct it there", status: .configuration)
    }
}
