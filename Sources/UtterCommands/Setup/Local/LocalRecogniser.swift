// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Settings
internal import SpeechService
internal import UtterSettings
internal import UtterTerminal

/// A recogniser that can be installed on this machine, as its recipe says: a file of TOML beside the
/// program, in `share/utter/recognisers` or `samples/recognisers`.
struct LocalRecogniser {
    let name: String
    let title: String
    let languages: String
    /// Beside the recipe: the program, and what pip installs for it, with digests.
    let program: String
    let packages: String?
    /// Arguments of the program, before its model.
    let arguments: [String]
    /// Programs that must be on the path.
    let needs: [String]
    /// The model to fetch; nil when it comes with the packages.
    let model: Model?
    /// Megabytes to fetch, on the disk afterwards, and in the memory of the program.
    let fetched, disk, memory: Int
    /// How long two processors work at ten seconds of speech, in seconds.
    let seconds: Double
    let folder: String

    struct Model {
        struct File {
            let name: String
            let url: ServiceURL
            /// As 64 lower-case digits; nil where none is known.
            let sha256: String?
        }

        let files: [File]
        /// The one that they lie in; nil where the only file needs none.
        let folder: String?
        /// All files together, in megabytes.
        let size: Int

        init(_ reader: inout SettingsReader) throws(SettingsError) {
            let place = try need(reader.path("url"), reader.string("url"))
            folder = try reader.string("folder")
            size = try need(reader.path("size"), reader.integer("size"))
            let texts = try need(reader.path("files"), reader.texts("files"))
            files = try texts.map { name, text, _ throws(SettingsError) in
                let digits = text == "unknown" ? nil : text.lowercased()
                guard digits.map({ $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) }) ?? true
                else {
                    let reason = " is neither 64 hexadecimal digits nor 'unknown'"
                    throw reader.error("files.\(name)", reason)
                }
                do throws(ServiceError) {
                    return File(name: name, url: try ServiceURL(place + name), sha256: digits)
                } catch {
                    throw reader.error("url", ": \(error.description)")
                }
            }
            let names = files.map(\.name) + [folder].compactMap(\.self)
            guard place.hasSuffix("/"), names.allSatisfy(Self.isPlain) else {
                throw reader.error("files", " do not name files in the folder of the URL")
            }
            guard files.count == 1 || folder != nil else {
                throw reader.error("folder", " is missing, as there is not one file alone")
            }
        }

        private static func isPlain(_ name: String) -> Bool {
            !name.isEmpty && !"-.".contains(name.prefix(1))
                && name.allSatisfy {
                    $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0))
                }
        }

        /// The folder that is in the only file, if it is an archive.
        var archived: String? {
            guard folder == nil, let name = files.first?.name, name.hasSuffix(".zip") else {
                return nil
            }
            return String(name.dropLast(4))
        }
    }

    /// Recognisers whose recipes came with the package.
    static func all() throws(CommandFailure) -> [LocalRecogniser] {
        for folder in Launch.sharedFolders.map({ $0 + "/recognisers" }) {
            // Where there is no such folder, the next is looked at.
            guard let names = try? Folder.open(at: folder).names() else { continue }
            let recipes = names.filter { $0.hasSuffix(".toml") }
                .sorted { $0.dropLast(5) < $1.dropLast(5) }
            if recipes.isEmpty { continue }
            return try recipes.map { name throws(CommandFailure) in
                try LocalRecogniser(at: "\(folder)/\(name)")
            }
        }
        throw CommandFailure(
            "no recipe for a recogniser is installed",
            hint: "name one: utter setup local ./RECIPE.toml", status: .noInput)
    }

    /// The one with this name, or with a recipe of the person's own at this path.
    static func named(_ name: String) throws(CommandFailure) -> LocalRecogniser {
        if name.contains("/") { return try LocalRecogniser(at: ServiceOptions.absolute(name)) }
        let all = try all()
        guard let found = all.first(where: { $0.name == name }) else {
            throw CommandFailure(
                "there is no recogniser '\(TerminalText.shown(name))'",
                hint: "there are: \(all.map(\.name).joined(separator: ", "))", status: .usage)
        }
        return found
    }

    init(at path: String) throws(CommandFailure) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        folder = String(path[..<slash])
        name = String(path[slash...].dropFirst().prefix { $0 != "." })
        do throws(ReadingError) {
            guard let text = try OwnFile(path).settingsText(limit: SettingsDocument.byteLimit)
            else { throw ReadingError("there is no such file") }
            do throws(SettingsError) {
                var reader = SettingsReader(try SettingsDocument.parse(text))
                title = try need("title", reader.string("title"))
                languages = try need("languages", reader.string("languages"))
                program = try need("program", reader.string("program"))
                packages = try reader.string("packages")
                arguments = try reader.strings("arguments") ?? []
                needs = try reader.strings("needs") ?? []
                model = try reader.table("model") { reader throws(SettingsError) in
                    try Model(&reader)
                }
                fetched = try need("fetched", reader.integer("fetched"))
                disk = try need("disk", reader.integer("disk"))
                memory = try need("memory", reader.integer("memory"))
                seconds = try need("seconds", reader.number("seconds"))
                try reader.finish()
            } catch {
                throw ReadingError(error, of: path)
            }
        } catch {
            throw CommandFailure(
                "\(TerminalText.shown(path)): \(error.description)", status: .configuration)
        }
        guard let problem else { return }
        throw CommandFailure(
            "\(TerminalText.shown(path)): \(problem)", status: .configuration)
    }

    /// A flaw that has no sense in a recipe, or in a folder and a unit that are made of it.
    private var problem: String? {
        let texts = [name, program, packages ?? "-"] + arguments
        if texts.contains(where: { $0.isEmpty || $0.utf8.contains { $0 < 0x20 } }) {
            return "a name or an argument is empty, or has a control character"
        }
        if name == "remove" || name.hasPrefix("-") { return "a recogniser cannot have that name" }
        if [program, packages ?? "-"].contains(where: { $0.contains("/") }) {
            return "'program' and 'packages' are files beside the recipe"
        }
        for file in [program, packages ?? program]
        where unsafe access("\(folder)/\(file)", R_OK) != 0 {
            return "there is no file '\(TerminalText.shown(file))' beside the recipe"
        }
        let sizes = [fetched, disk, memory, model?.size ?? 0]
        let isSound = sizes.allSatisfy { (0...1 << 40).contains($0) }
        return isSound && (0...10_000).contains(seconds) ? nil : "a number in it makes no sense"
    }

    func facts(processors: Int) -> String {
        let time = seconds * 2 / Double(max(1, min(processors, 4)))
        let digests = model.map { model in
            "; model of \(model.size) MB: "
                + model.files.map {
                    "\($0.name), " + ($0.sha256.map { "SHA-256 \($0)" } ?? "without a known digest")
                }.joined(separator: "; ")
        }
        return
            "\(title); \(languages); fetches \(fetched) MB, takes \(disk) MB of disk and "
            + "\(memory) MB of memory; about \(StatusLine.seconds(.seconds(time))) for ten seconds of "
            + "speech on \(processors) processors" + (digests ?? "")
    }
}

private func need<Value>(_ name: String, _ value: Value?) throws(SettingsError) -> Value {
    guard let value else { throw SettingsError("'\(name)' is missing") }
    return value
}
