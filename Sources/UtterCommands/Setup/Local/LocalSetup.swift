// SPDX-License-Identifier: Apache-2.0

internal import Downloads
internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform
internal import SpeechService
internal import Utter
internal import UtterSettings
internal import UtterTerminal

/// Installs a recogniser on this machine for one person, tries it, and has it started.
///
/// It uses all that an earlier run has left: each step can be repeated.
package struct LocalSetup {
    /// Below it each recogniser has a folder.
    static let place =
        Environment.folder("XDG_DATA_HOME", orBelowHome: "/.local/share") + "/recognisers"
    /// The service of before, as `remove` gives it back.
    private static let beforeName = "service-before"
    /// The command of the one that is used.
    private static let commandName = "serve-command"

    let recogniser: LocalRecogniser
    /// In place of the recipe's own: a file, a folder, or a name that its program knows.
    let model: String?

    /// The command of the recogniser that was installed last; nil: none.
    package static var installedCommand: String? {
        // Where there is no such file, none is installed.
        let bytes = try? Folder.open(at: place).contents(of: commandName, limit: 1 << 16)
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    private var folder: String { "\(Self.place)/\(recogniser.name)" }
    private var python: String { "\(folder)/venv/bin/python" }

    /// The command for `utter serve --recogniser`.
    var command: String {
        ([python, "\(folder)/\(recogniser.program)"] + recogniser.arguments
            + [model ?? recogniser.model.map(path)].compactMap(\.self))
            .map(ShellWord.quoted).joined(separator: " ")
    }

    private func path(of model: LocalRecogniser.Model) -> String {
        "\(folder)/\(model.folder ?? model.archived ?? model.files[0].name)"
    }

    // MARK: - Before anything is fetched

    func check() throws(CommandFailure) {
        if let other = try Configuration.current().services["utter"], other.url != nil {
            throw CommandFailure(
                "\(other.urlName) names another endpoint",
                hint:
                    "give that service another name, with profile = \"utter\", or remove the line",
                status: .configuration)
        }
        guard let python = DesktopTool.path(of: "python3") else { throw Self.missing("python3") }
        // A program that does not run is missing.
        guard try LocalStep().run(python, ["-c", "import ensurepip, venv"]).status == 0 else {
            throw Self.missing("python3-venv")
        }
        if let program = recogniser.needs.first(where: { DesktopTool.path(of: $0) == nil }) {
            throw CommandFailure(
                "\(program) is missing", hint: "install it so that it is on the PATH",
                status: .configuration)
        }
        let free = freeByteCount(at: Self.nearest(Self.place)) ?? .max
        let isThere = unsafe access(self.python, X_OK) == 0
        guard isThere || free > (recogniser.disk + 64) << 20 else {
            throw CommandFailure(
                "\(recogniser.disk + 64) MB are needed at \(Self.place), and \(free >> 20) MB are free",
                hint: "set XDG_DATA_HOME to a folder on another disk", status: .localIO)
        }
        guard let model, model.hasPrefix("/") else { return }
        guard unsafe access(model, R_OK) == 0 else {
            throw CommandFailure("there is no model '\(model)'", status: .noInput)
        }
    }

    private static func missing(_ package: String) -> CommandFailure {
        CommandFailure(
            "\(package) is missing", hint: "install it: sudo apt install \(package)",
            status: .configuration)
    }

    /// The folder that a path is in, or will be.
    private static func nearest(_ path: String) -> String {
        var path = path[...]
        while unsafe access(String(path), F_OK) != 0, let slash = path.lastIndex(of: "/") {
            path = path[..<slash]
        }
        return path.isEmpty ? "/" : String(path)
    }

    // MARK: - What is installed

    /// Makes the folder, and has pip fetch what the recipe names, by its digests.
    func install() throws(CommandFailure) {
        try orFailure {
            let here = try Folder.make(at: folder)
            let there = try Folder.open(at: recogniser.folder)
            let names = try there.names().filter {
                $0.hasSuffix(".py") || $0 == recogniser.packages
            }
            for name in names {
                try here.replaceFile(name, with: try there.contents(of: name, limit: 1 << 20))
            }
        }
        if unsafe access(python, X_OK) != 0 {
            let end = try LocalStep().run(
                DesktopTool.path(of: "python3") ?? "python3", ["-m", "venv", "\(folder)/venv"])
            guard end.status == 0 else {
                throw CommandFailure(
                    "Python cannot make its folder \(folder)/venv\(end.complaint)",
                    status: .localIO)
            }
        }
        guard let packages = recogniser.packages else { return }
        let step = LocalStep(title: "installing the packages of \(recogniser.name)")
        let end = try step.run(
            python,
            [
                "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-deps",
                "--require-hashes", "-r", "\(folder)/\(packages)",
            ])
        guard end.status != 0 else { return }
        let isOffline = Self.connectionErrors.contains(where: end.text.contains)
        throw CommandFailure(
            isOffline
                ? "pip cannot reach the index of its packages"
                : "pip cannot install the packages of \(recogniser.name)\(end.complaint)",
            hint: (isOffline ? "check the network; " : "")
                + "what has been fetched is kept: the same command goes on",
            status: isOffline ? .notDelivered : .localIO)
    }

    /// The classes of urllib3 that pip names when no connection comes about.
    private static let connectionErrors = [
        "NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ProxyError",
    ]

    /// Fetches the model of the recipe, unless it is there, and goes on where a run before has ended.
    func fetchModel() async throws(CommandFailure) {
        guard model == nil, let wanted = recogniser.model else { return }
        guard wanted.archived == nil || !Folder.isFolder(at: path(of: wanted)) else { return }
        let place = wanted.folder == nil ? folder : path(of: wanted)
        try orFailure { _ = try Folder.make(at: place) }
        let fetching = try FetchSession(
            in: folder, limits: DownloadLimits(bytes: .max, free: 64 << 20),
            obeying: RunningTake())
        defer { fetching.end() }
        for file in wanted.files {
            var download = Download(file.url)
            download.sha256 = file.sha256
            download.destination = "\(place)/\(file.name)"
            switch await fetching.result(of: download) {
            case .success(let found):
                guard let name = wanted.archived else { continue }
                try unpack(found.path, with: name)
                // An archive that stays takes room, and goes when everything is removed.
                try? fetching.downloads.remove(found.id)
            case .failure(let failure):
                throw CommandFailure(
                    "the model \(file.url): \(failure.description)",
                    hint: "the same command goes on with what has come; "
                        + "--model names one that you have",
                    status: failure.status)
            }
        }
    }

    /// Gives the folder of an archive its place once all of it is there.
    private func unpack(_ archive: String, with name: String) throws(CommandFailure) {
        let end = try LocalStep().run(
            python, ["-m", "zipfile", "-e", archive, "\(folder)/unpacked"])
        guard end.status == 0 else {
            throw CommandFailure(
                "\(archive) cannot be unpacked\(end.complaint)", status: .localIO)
        }
        do throws(SystemError) {
            let here = try Folder.open(at: folder)
            try here.renameFolder("unpacked/\(name)", toNew: name)
            try here.removeFile("\(name).zip")
        } catch {
            throw CommandFailure(
                "there is no folder '\(name)' in \(archive): \(error.description)",
                status: .configuration)
        }
    }

    // MARK: - What it hears

    private static let sample = "jfk.wav"
    private static let said =
        "and so my fellow americans ask not what your country can do for you "
        + "ask what you can do for your country"

    /// Sends a sample through the endpoint, at once and without a microphone; what is to be said
    /// of it.
    func trial() throws(CommandFailure) -> String {
        let path = try OtherProgram.endpoint.path()
        let samples = Launch.sharedFolders.map { "\($0)/\(Self.sample)" }
        guard let sample = samples.first(where: { unsafe access($0, R_OK) == 0 }) else {
            throw CommandFailure("the sample \(Self.sample) is not installed", status: .noInput)
        }
        let output = try orFailure { try makeMemoryFile() }
        let end = try LocalStep(title: "trying \(recogniser.name)").run(
            path, ["demo", "--pace", "max", "--json", "--recogniser", command, sample],
            output: output.number)
        struct Heard: Decodable {
            var text: String?
            var answerDelayMs: Double?
        }
        // Without a text it has failed.
        let heard = try? JSONDecoder().decode(
            Heard.self, from: Data(output.bytes(limit: LocalStep.textLimit)))
        guard end.status == 0, let heard, let text = heard.text else {
            throw CommandFailure(
                "\(recogniser.name) does not recognise the sample\(end.complaint)",
                hint: "see why: utter serve --check-recogniser \(ShellWord.quoted(command))",
                status: .configuration)
        }
        let time = StatusLine.seconds(.milliseconds(Int(heard.answerDelayMs ?? 0)))
        return "Heard '\(TerminalText.shown(text))' in \(time): \(Self.wrongCount(in: text)) of "
            + "\(Self.words(Self.said).count) words wrong in 11 s of English."
    }

    private static func words(_ text: String) -> [String] {
        text.lowercased().split { !$0.isLetter }.map(String.init)
    }

    static func wrongCount(in text: String) -> Int {
        let difference = words(text).difference(from: words(said))
        return max(difference.insertions.count, difference.removals.count)
    }

    // MARK: - The settings

    /// Makes the endpoint of this machine the service, and remembers which one was.
    func use() throws(CommandFailure) {
        let setting = KnownSettings.service
        let before = try Configuration.current()[setting.name]?.text ?? ""
        if before != "utter" {
            try orFailure {
                try Folder.make(at: Self.place).replaceFile(
                    Self.beforeName, with: Array(before.utf8))
            }
        }
        try ConfigurationChange(setting.name).set("utter")
        try orFailure {
            try Folder.make(at: Self.place).replaceFile(Self.commandName, with: Array(command.utf8))
        }
    }

    /// Undoes all of it, for all recognisers; whether there was anything.
    static func remove() throws(CommandFailure) -> Bool {
        let hadUnits = [LocalUnits.remove(), LocalAutostart.remove()].contains(true)
        // Without it the setting is left alone, unless the units lead there.
        let known = try? Folder.open(at: place).contents(of: beforeName, limit: 4_096)
        if let before = known ?? (hadUnits ? [] : nil) {
            let change = try ConfigurationChange(KnownSettings.service.name)
            if try change.value() == "utter" {
                let before = String(decoding: before, as: UTF8.self)
                if before.isEmpty { try change.unset() } else { try change.set(before) }
            }
        }
        guard Folder.isFolder(at: place) else { return hadUnits }
        do {
            try FileManager.default.removeItem(atPath: place)
        } catch {
            throw CommandFailure("\(place) cannot be removed: \(error)", status: .localIO)
        }
        return true
    }
}
