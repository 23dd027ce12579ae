// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Utter
@testable import UtterCommands

/// `utter setup local`, with a recipe whose recogniser knows one sentence and needs no package.
@Suite struct SetupLocalTests {
    private let bench: Bench
    private static let sentence = "And so my fellow Americans, ask what your country can do for 2."

    init() throws {
        let place = try TemporaryFolder()
        let path = CommandRun.cleanEnvironment["PATH"] ?? "/usr/bin:/bin"
        bench = try Bench(["PATH": "\(place.path):\(path)"])
        // systemd's own tool would need a session.
        try place.writeProgram(
            "#!/bin/sh\necho \"$@\" >>'\(bench.folder.path("systemctl.log"))'\n", to: "systemctl")
        tools = place
        let python = try #require(ForeignTool("python3").path)
        try place.writeProgram(
            """
            #!/bin/sh
            # Unpacking pip takes seconds, and only what a recipe names needs it.
            [ "$2" = venv ] && set -- -m venv --without-pip "$3"
            exec '\(python)' "$@"

            """, to: "python3")
        mkdir(bench.folder.path("recipe"), 0o700)
        try write(Self.program, to: "recipe/parrot.py")
        try write("# Nothing.\n", to: "recipe/parrot.txt")
        try writeRecipe()
    }

    private let tools: TemporaryFolder

    private func write(_ text: String, to path: String) throws {
        try bench.folder.write(Array(text.utf8), to: path)
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try bench.folder.read(path), as: UTF8.self)
    }

    private func writeRecipe(
        disk: Int = 1, packages: Bool = false, _ rest: String = ""
    ) throws {
        try write(
            """
            title = "A parrot"
            languages = "English"
            program = "parrot.py"
            \(packages ? "packages = 'parrot.txt'" : "")
            fetched = 1
            disk = \(disk)
            memory = 10
            seconds = 0.1
            \(rest)
            """, to: "recipe/parrot.toml")
    }

    private static let program = """
        import json, sys
        def say(**line):
            print(json.dumps(line), flush=True)
        while True:
            say(ready={"name": "parrot", "languages": ["en"]})
            while True:
                line = sys.stdin.buffer.readline()
                if not line:
                    sys.exit(0)
                command = json.loads(line)
                sys.stdin.buffer.read(command.get("audio", 0))
                if command.get("end"):
                    say(final="\(sentence)", words=[], end=True)
                if command.get("end") or command.get("cancel"):
                    break

        """

    /// Writes a parrot that does not speak unless a line of Python passes.
    private func writeParrot(_ line: String) throws {
        try write(
            Self.program.replacing("sys\n", with: "sys\n\(line)\n", maxReplacements: 1),
            to: "recipe/parrot.py")
    }

    private var recipe: String { bench.folder.path("recipe/parrot.toml") }

    /// Where the parrot is installed.
    private var place: String { bench.folder.path(".local/share/utter/recognisers/parrot") }

    private func unit(_ name: String) throws -> String {
        try text(".config/systemd/user/\(name)")
    }

    /// What `utter serve` runs.
    private func command() throws -> String {
        try text(".local/share/utter/recognisers/serve-command")
    }

    /// Runs `setup local --yes` for the recipe.
    @discardableResult
    private func install(_ words: String..., status: Int32 = 0) async throws -> String {
        let result = try await bench.start(["setup", "local", "-y"] + words + [recipe]).result()
        #expect(result.status == .exited(status), "\(result.errorText)")
        return result.errorText
    }

    private func service() async throws -> String {
        try await bench.run("config", "get", "service").outputText
    }

    /// With the Python and the pip of the system.
    @Test func aRecogniserIsInstalledTriedAndRemoved() async throws {
        #expect(unlink(tools.path("python3")) == 0)
        try writeRecipe(packages: true)
        try bench.configure("service = 'openai'\n")
        let said = try await install()
        // Ten words were left out.
        for words in [
            "A parrot; English; fetches 1 MB", "\(Self.sentence)' in ", "10 of 22 words wrong",
            "Now speak: utter",
        ] { #expect(said.contains(words), "\(said)") }
        let endpoint = try unit("utter-local-endpoint.service")
        #expect(
            endpoint.contains(
                "\"--recogniser\" \"\(place)/venv/bin/python \(place)/parrot.py\"\n"))
        #expect(try unit("utter-local.socket").contains("ListenStream=127.0.0.1:8517\n"))
        #expect(try unit("utter-local.service").contains("Requires=utter-local-endpoint.service\n"))
        #expect(
            try text("systemctl.log") == """
                --user daemon-reload
                --user restart utter-local.socket
                --user enable utter-local.socket

                """)
        let names =
            ["socket", "service"].map { "utter-local.\($0)" } + ["utter-local-endpoint.service"]
        // It fails when something in them has no meaning.
        try ForeignTool("env").run(
            [
                "XDG_RUNTIME_DIR=\(bench.folder.path)", "systemd-analyze", "--user", "--man=no",
                "verify",
            ] + names.map { bench.folder.path(".config/systemd/user/\($0)") })
        #expect(try await service() == "utter\n")
        // What is there is used.
        try await install()
        let removed = try await bench.run("setup", "local", "remove")
        #expect(removed.errorText.contains("is removed"))
        #expect(try await service() == "openai\n")
        #expect(access(place, F_OK) != 0)
        #expect(try bench.folder.names(in: ".config/systemd/user").isEmpty)
        let none = try await bench.run("setup", "local", "remove")
        #expect(none.errorText.contains("there is nothing to remove"))
    }

    @Test func withoutSystemdTheDesktopStartsItAndServeFindsIt() async throws {
        try tools.writeProgram("#!/bin/sh\nexit 1\n", to: "systemctl")
        let said = try await install()
        #expect(said.contains("'utter serve' in another terminal now"), "\(said)")
        #expect(try bench.folder.names(in: ".config/systemd/user").isEmpty)
        #expect(try await service() == "utter\n")
        let entry = try text(".config/autostart/utter-local.desktop")
        #expect(
            entry.contains(
                "/utter\" \"serve\" \"-q\" \"--recogniser\" "
                    + "\"\(place)/venv/bin/python \(place)/parrot.py\"\n"), "\(entry)")
        let (server, url) = try await bench.serve()
        let heard = try await bench.run("send", "--to", url, Clip.goForward.path)
        #expect(heard.outputText == Self.sentence + "\n")
        server.signal(SIGTERM)
        let first = "utter: the recogniser is parrot, as utter setup local installed it\n"
        #expect(try await server.result().errorText.hasPrefix(first))
        _ = try await bench.run("setup", "local", "remove")
        #expect(try bench.folder.names(in: ".config/autostart").isEmpty)
    }

    /// Stands in for the Python of the system, and makes one whose pip does what is said.
    private func writePython(_ pip: String) throws {
        try writeRecipe(packages: true)
        try tools.writeProgram(
            """
            #!/bin/sh
            [ "$2" = venv ] || exit 0
            mkdir -p "$3/bin" && cp '\(tools.path)/pip' "$3/bin/python"

            """, to: "python3")
        try tools.writeProgram("#!/bin/sh\n\(pip)\n", to: "pip")
    }

    @Test(
        arguments: [
            (
                "echo 'Retrying: NewConnectionError(...)'; echo 'ERROR: none' >&2; exit 1", 75,
                "pip cannot reach the index of its packages"
            ),
            (
                "echo 'ERROR: no space' >&2; echo Bye; exit 1", 74,
                "pip cannot install the packages of parrot: ERROR: no space"
            ),
        ] as [(String, Int32, String)])
    func whatPipComplainsOfIsOneSentence(
        _ pip: String, _ status: Int32, _ words: String
    ) async throws {
        try writePython(pip)
        let said = try await install(status: status)
        #expect(said.contains("utter: error: \(words)\n"), "\(said)")
        #expect(!said.contains("none") && !said.contains("Retrying"), "\(said)")
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsPipToo(_ signal: Int32) async throws {
        let pipe = try LifePipe(in: bench.folder)
        try writePython("echo up >'\(pipe.path)'; sleep 86400 >'\(pipe.path)'")
        let run = try bench.start(["setup", "local", "-y", recipe])
        #expect(await pipe.isUp())
        run.signal(signal)
        #expect(try await run.result().status == .signalled(signal))
        #expect(await pipe.isClosed())
    }

    @Test func whatIsMissingIsSaidBeforeAnythingIsFetched() async throws {
        let unknown = try await bench.run("setup", "local", "nothing")
        #expect(unknown.status == .exited(64))
        #expect(unknown.errorText.contains("no recogniser 'nothing'"))
        #expect(unknown.errorText.contains("there are: faster-whisper, "))
        let serverless = try await bench.run("setup", "local", "-y", "whisper-cpp")
        #expect(serverless.errorText.contains("whisper-server is missing"))
        try writeRecipe(disk: 1 << 40)
        #expect(try await install(status: 74).contains("MB are needed at"))
        try writeRecipe()
        let model = try await bench.run("setup", "local", "-y", "--model", "/nowhere", recipe)
        #expect(model.errorText.contains("there is no model '/nowhere'"))
        try tools.writeProgram("#!/bin/sh\nexit 1\n", to: "python3")
        let python = try await bench.run("setup", "local", "-y", recipe)
        #expect(python.errorText.contains("sudo apt install python3-venv"))
        try write("title = 7\n", to: "recipe/parrot.toml")
        #expect(try await install(status: 78).contains("parrot.toml"))
        #expect(access(bench.folder.path(".local"), F_OK) != 0)
    }

    /// A part of the recipe, the text in its place, and why that is refused.
    private static let flaws = [
        ("seconds = 0.1", "seconds = nan", "makes no sense"),
        ("seconds = 0.1", "seconds = 1e300", "makes no sense"),
        ("disk = 1", "disk = -9", "makes no sense"),
        ("parrot.py", "../parrot.py", "beside the recipe"),
        ("parrot.py", "none.py", "no file 'none.py'"),
        ("seconds = 0.1", "seconds = 0.1\n[model]\nurl = \"https://a.example/\"", "model.size"),
        ("seconds = 0.1", model("'m.bin'", String(repeating: "x", count: 64)), "hexadecimal"),
        ("seconds = 0.1", model("''", String(repeating: "0", count: 64)), "name files"),
        ("seconds = 0.1", model("'%2e.zip'", String(repeating: "0", count: 64)), "name files"),
        ("seconds = 0.1", model("a = 'unknown'\nb", "unknown"), "model.folder"),
        ("memory = 10", "memory = 10\narguments = [\"a\\nExecStart=b\"]", "control character"),
    ]

    @Test func aRecipeThatMakesNoSenseIsRefused() throws {
        let sound = try text("recipe/parrot.toml")
        for (old, new, reason) in Self.flaws {
            try write(sound.replacing(old, with: new), to: "recipe/parrot.toml")
            let failure = #expect(throws: CommandFailure.self, "\(new)") {
                _ = try LocalRecogniser(at: recipe)
            }
            #expect(failure?.status == .configuration)
            #expect(failure?.message.contains(reason) == true, "\(new)")
        }
    }

    private static func model(_ name: String, _ sha256: String) -> String {
        "seconds = 0.1\n[model]\nurl = \"https://a.example/\"\nsize = 1\n"
            + "[model.files]\n\(name) = \"\(sha256)\""
    }

    @Test(arguments: [true, false])
    func aModelIsFetchedByItsDigestAndGivenToTheProgram(isArchive: Bool) async throws {
        let check =
            isArchive
            ? "assert open(sys.argv[1] + '/word').read() == 'word'"
            : "import zipfile; assert zipfile.ZipFile(sys.argv[1]).namelist() == ['tiny-1.0/word']"
        try writeParrot(check)
        let name = isArchive ? "tiny-1.0.zip" : "tiny.bin"
        let path = bench.folder.path(name)
        try ForeignTool("python3").run([
            "-c",
            "import zipfile; zipfile.ZipFile('\(path)', 'w').writestr('tiny-1.0/word', 'word')",
        ])
        let bytes = try bench.folder.read(name)
        let sum = try ForeignTool("sha256sum").run([path]).text.prefix(64)
        let server = try FileServer(["/\(name)": .init(bytes)])
        let model = "[model]\nurl = '\(server.url("/"))'\nsize = 1\n[model.files]\n'\(name)' = "
        try writeRecipe(model + "'\(String(repeating: "0", count: 64))'\n")
        let wrong = try await install(status: 65)
        #expect(wrong.contains("its SHA-256 is \(sum), and not 0000"))
        #expect(wrong.contains("--model"))
        #expect(try await service().isEmpty)
        try writeRecipe(model + "'\(sum)'\n")
        server.change { $0.cuts = [50] }
        try await install()
        #expect(server.requests.last?["Range"] == "bytes=50-")
        let given = "\(place)/\(isArchive ? "tiny-1.0" : name)"
        #expect(try command().hasSuffix("parrot.py \(given)"))
        // What is there is used, and a model of the person's own fetches nothing.
        let count = server.requests.count
        try await install()
        try await install("--model", given)
        #expect(server.requests.count == count)
    }

    /// One file of two is wrong at first; the other is not fetched twice.
    @Test func allFilesOfAModelLieInItsFolder() async throws {
        try writeParrot("for name in 'ab': assert open(f'{sys.argv[1]}/{name}').read() == 'word'")
        let word = Array("word".utf8)
        let server = try FileServer(["/a": .init(word), "/b": .init(Array("wort".utf8))])
        let sum = try ForeignTool("sha256sum").run(["-"], input: word).text.prefix(64)
        try writeRecipe(
            "[model]\nurl = '\(server.url("/"))'\nsize = 1\nfolder = 'two'\n"
                + "[model.files]\na = '\(sum)'\nb = '\(sum)'\n")
        let wrong = try await install(status: 65)
        #expect(wrong.contains("model of 1 MB: a, SHA-256 \(sum); b, SHA-256 \(sum)"), "\(wrong)")
        #expect(wrong.contains("/b: it cannot be fetched: its SHA-256 is "), "\(wrong)")
        server.change { $0.files["/b"] = .init(word) }
        try await install()
        #expect(server.requests.map(\.target).sorted() == ["/a", "/b", "/b"])
        #expect(try command().hasSuffix("parrot.py \(place)/two"))
    }

    @Test func theSettingGoesAlsoWhenTheFolderWasDeleted() async throws {
        try await install()
        try ForeignTool("rm").run(["-r", bench.folder.path(".local/share/utter/recognisers")])
        let removed = try await bench.run("setup", "local", "remove")
        #expect(removed.errorText.contains("is removed"), "\(removed.errorText)")
        #expect(try await service().isEmpty)
    }

    @Test func nothingIsFetchedThatWouldNotBeUsed() async throws {
        let asked = try await bench.run("setup", "local", recipe)
        #expect(asked.status == .exited(64))
        #expect(asked.errorText.contains("--yes"), "\(asked.errorText)")
        try bench.configure("[services.utter]\nurl = 'http://127.0.0.1:9/recognize'\n")
        let other = try await install(status: 78)
        #expect(other.contains("services.utter.url names another endpoint"))
        #expect(access(bench.folder.path(".local"), F_OK) != 0)
    }

    @Test func aUnitOfThePersonsOwnStays() async throws {
        for path in [".config", ".config/systemd", ".config/systemd/user"] {
            mkdir(bench.folder.path(path), 0o700)
        }
        let unit = ".config/systemd/user/utter-local.socket"
        try write("# mine\n", to: unit)
        #expect(try await install().contains("utter-local.socket was not written by utter"))
        _ = try await bench.run("setup", "local", "remove")
        #expect(try text(unit) == "# mine\n")
    }

    @Test func aRecogniserThatHearsNothingIsNotUsed() async throws {
        try write("raise SystemExit('there is no parrot')\n", to: "recipe/parrot.py")
        let said = try await install(status: 78)
        #expect(said.contains("parrot does not recognise the sample: "))
        #expect(said.contains("there is no parrot"), "\(said)")
        #expect(try await service().isEmpty)
    }

    @Test func aPersonChoosesFirst() async throws {
        let result = try await bench.setUp([
            ("if that is your own: ", "local\n"), ("Enter for the first: ", "\n"),
            ("[Y/n]: ", "n\n"),
        ])
        #expect(result.screenText.contains("local installs a recogniser"))
        #expect(result.status == .exited(0), "\(result.screenText)")
        #expect(result.screenText.contains("Nothing was fetched."))
        #expect(access(bench.folder.path(".local"), F_OK) != 0)
    }
}

/// What is written and said of a recogniser of this machine; nothing is run.
@Suite struct LocalTextTests {
    @Test func whatADesktopRunsIsTheCommand() throws {
        let text = LocalAutostart.text("'/a b/p' $HOME \\ `x` \"y\" 5%")
        #expect(
            text.contains(
                #"" "--recogniser" "'/a b/p' \\$HOME \\\\ \\`x\\` \\"y\\" 5%%""# + "\n"), "\(text)")
    }

    /// The hints of a service that does not listen name what starts it; one that this machine has not
    /// is set up.
    @Test func whatDoesNotListenIsNamedByItsStart() {
        let failure = TakeFailure.notDelivered(
            .cannotConnect("Connection refused"), host: ServiceOptions.localOrigin)
        #expect(failure.hint?.contains("utter setup local") == true)
        #expect(Hints.serviceUnset.contains("utter setup local"))
    }
}
