// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Settings

/// Where the profiles of services are looked for by their names.
///
/// A profile is a TOML file that says how a service is asked and how its answer is read; it may extend
/// another. Blocks on the disk where it looks into a folder.
public struct Profiles: Sendable {
    private struct Shelf: Sendable {
        var names: @Sendable () -> [String]
        var text: ProfileChain.Shelf
    }

    /// The first counts most.
    private let shelves: [Shelf]

    /// The profiles that come with the package.
    public static let shipped = Profiles(
        shelves: [
            Shelf(names: { ShippedProfiles.names }, text: { ShippedProfiles.text(of: $0) })
        ])

    /// The files `NAME.toml` of a folder, by an absolute path; none when there is no folder.
    ///
    /// A file that another user may write is refused: a profile says where the token goes.
    public static func folder(_ path: String) -> Profiles {
        Profiles(
            shelves: [
                Shelf(
                    names: { names(in: path) },
                    text: { name in
                        guard isName(name) else { return nil }
                        let file = "\(path)/\(name).toml"
                        return try text(of: file).map {
                            ProfileText(name: name, place: file, text: $0)
                        }
                    })
            ])
    }

    /// The profiles of both: one of the second hides that of its name in the first, and may extend it.
    public static func + (one: Profiles, two: Profiles) -> Profiles {
        Profiles(shelves: two.shelves + one.shelves)
    }

    /// The names of all profiles, those that count first before the others.
    public var names: [String] {
        shelves.reduce(into: []) { names, shelf in
            names += shelf.names().filter { !names.contains($0) }
        }
    }

    /// The variables in which they look for secrets, those of the profiles that they extend left out.
    ///
    /// Only the document of each is read: the programs that need this wait for it.
    package var variables: Set<String> {
        shelves.reduce(into: []) { variables, shelf in
            for name in shelf.names() {
                // No secret is read by a profile that cannot be.
                let document = try? shelf.text(name).map { try SettingsDocument.parse($0.text) }
                for table in [document, document?["live"]?.value.table] {
                    let auth = table?["auth"]?.value.table
                    variables.formUnion(auth?.texts(named: "variable") ?? [])
                }
            }
        }
    }

    /// Reads a profile by its name, or by the path of a file: with a slash or the ending `.toml`.
    ///
    /// - Throws: `ProfileError` when there is none, or when it cannot be used.
    public func profile(_ name: String) throws(ProfileError) -> ServiceProfile {
        do {
            let shelves = shelves.map(\.text)
            if Self.isPath(name) {
                guard let text = try Self.text(of: name) else {
                    throw ProfileError.noFile(name)
                }
                var last = name.split(separator: "/").last.map(String.init) ?? name
                if last.hasSuffix(".toml") { last.removeLast(5) }
                let own = ProfileText(name: last, place: name, text: text)
                return try .reading(ProfileChain.texts(of: own, in: shelves))
            }
            guard let texts = try ProfileChain.texts(of: name, in: shelves) else {
                throw ProfileError.unknownService(
                    name, near: EditDistance.nearest(to: name, among: names))
            }
            return try .reading(texts)
        } catch let error as ProfileError {
            throw error
        } catch let error as ReadingError {
            throw .unreadable(error)
        } catch let error as SettingsError {
            throw .unreadable(ReadingError(error, of: name))
        } catch {
            throw .unreadable(ReadingError("\(error)"))
        }
    }

    package static func isPath(_ name: String) -> Bool {
        name.contains("/") || name.hasSuffix(".toml")
    }

    /// And of a file.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && !text.hasPrefix(".") && text.utf8.count < 100
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_.".utf8.contains($0) }
    }

    private static func text(of file: String) throws(ReadingError) -> String? {
        try OwnFile(file).settingsText(limit: SettingsDocument.byteLimit)
    }

    private static func names(in folder: String) -> [String] {
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
}
