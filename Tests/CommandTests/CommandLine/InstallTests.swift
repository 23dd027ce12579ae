// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `scripts/install.sh` as make runs it, with this build.
@Suite struct InstallTests {
    private func run(
        _ action: String, _ prefix: String, home: TemporaryFolder
    ) async throws -> CommandResult {
        let utter = try #require(BuiltProducts.path(of: "utter"))
        var environment = CommandRun.cleanEnvironment
        environment["HOME"] = home.path
        environment["UTTER_BUILD"] = String(utter.dropLast("/utter".count))
        // In dash the tilde is make's to pass on, as it was typed.
        return try await CommandRun.run(
            "dash",
            ["-c", "exec \(SourceTree.path("scripts/install.sh")) \(action) '' '\(prefix)'"],
            environment: environment)
    }

    private func paths(below folder: String) throws -> [String] {
        try ForeignTool("find").run([folder, "-mindepth", "1"]).text.split(separator: "\n")
            .map { String($0.dropFirst(folder.count)) }.sorted()
    }

    @Test func aTildeThatTheShellLeftIsTheHome() async throws {
        let home = try TemporaryFolder()
        let installed = try await run("install", "~/.local", home: home)
        #expect(installed.status == .exited(0), "\(installed.errorText)")
        let paths = try paths(below: home.path)
        #expect(paths.contains("/.local/bin/utter"))
        #expect(paths.contains("/.local/share/bash-completion/completions/utter"))
        #expect(paths.contains("/.local/libexec/utter/utter-keys"))
        #expect(paths.contains("/.local/bin/utter-work"))
        #expect(paths.contains("/.local/share/applications/org.utter.Utter.desktop"))
        for page in [
            "man1/utter.1", "man1/utter-send.1", "man1/utter-serve.1", "man1/utter-keys.1",
            "man1/utter-work.1", "man7/utter.7",
        ] {
            #expect(paths.contains("/.local/share/man/\(page)"), "\(page)")
        }
        for name in ["outcome", "events", "list"] {
            #expect(paths.contains("/.local/share/utter/\(name).schema.json"))
        }
        let unit = String(
            decoding: try home.read(".local/share/systemd/user/utter-flush.service"),
            as: UTF8.self)
        #expect(unit.contains("ExecStart=\(home.path)/.local/bin/utter flush"))
        let version = try await CommandRun.run(home.path(".local/bin/utter"), ["--version"])
        #expect(version.outputText.hasPrefix("utter "))
        for (program, words) in [("utter-work", ["--help"]), ("utter", ["fleet", "--help"])] {
            let help = try await CommandRun.run(home.path(".local/bin/\(program)"), words)
            #expect(help.status == .exited(0) && help.outputText.contains("--help"), "\(program)")
        }

        // Once more, which upgrades, and then all of it goes, empty folders too.
        #expect(try await run("install", "~/.local", home: home).status == .exited(0))
        #expect(try await run("uninstall", "~/.local", home: home).status == .exited(0))
        #expect(try self.paths(below: home.path) == [])
    }

    @Test(arguments: [
        "bash-completion/completions/utter", "zsh/site-functions/_utter",
        "fish/vendor_completions.d/utter.fish",
    ])
    func whatIsCompletedAreTheCommandsOfThisProgram(_ name: String) async throws {
        let home = try TemporaryFolder()
        #expect(try await run("install", "~/own", home: home).status == .exited(0))
        let script = String(decoding: try home.read("own/share/\(name)"), as: UTF8.self)
        #expect(script.contains("toggle"))
    }

    @Test func anUpgradeTakesAwayWhatTheVersionBeforeHad() async throws {
        let home = try TemporaryFolder()
        #expect(try await run("install", "~/own", home: home).status == .exited(0))
        let list = "own/share/utter/files"
        _ = try home.write(
            try home.read(list) + Array("share/man/man1/utter-old.1\n".utf8), to: list)
        for page in ["utter-old.1", "utter-own.1"] {
            try home.write([], to: "own/share/man/man1/\(page)")
        }
        #expect(try await run("install", "~/own", home: home).status == .exited(0))
        let names = try home.names(in: "own/share/man/man1")
        #expect(!names.contains("utter-old.1"))
        #expect(names.contains("utter-own.1") && names.contains("utter-send.1"))
    }

    @Test func theInstalledProgramIsLinkedToItsLibraries() async throws {
        let home = try TemporaryFolder()
        #expect(try await run("install", "~/own", home: home).status == .exited(0))
        let loaded = try ForeignTool("ldd").run([home.path("own/bin/utter")]).text
        let names = ["FLAC", "asound", "crypto", "curl", "ogg", "opus", "samplerate"]
        for name in names { #expect(loaded.contains("lib\(name).so."), "\(loaded)") }
        // Each costs every start.
        for name in ["evdev", "systemd"] { #expect(!loaded.contains("lib\(name)."), "\(loaded)") }
        #expect(!loaded.contains("not found"), "\(loaded)")
    }

    @Test func theInstalledProgramRecordsEncodesAndSends() async throws {
        let home = try TemporaryFolder()
        #expect(try await run("install", "~/own", home: home).status == .exited(0))
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("installed"))
        let bench = try Bench(server: server, microphone: card)
        for format in ["pcm", "ogg-opus", "flac"] {
            let result = try await CommandRun.run(
                home.path("own/bin/utter"), ["--for", "300ms", "--format", format],
                environment: bench.environment)
            #expect(result.status == .exited(0), "\(result.errorText)")
            #expect(result.outputText == "installed\n")
        }
        #expect(server.requests.first?.body == RecordTests.samples(4_800))
        let beginnings = server.requests.dropFirst().map { $0.body.prefix(4) }
        #expect(beginnings.map { String(decoding: $0, as: UTF8.self) } == ["OggS", "fLaC"])
    }

    @Test func theInstalledProgramWatchesAKeyAndFindsTheRecorder() async throws {
        let home = try TemporaryFolder()
        #expect(try await run("install", "~/own", home: home).status == .exited(0))
        let bench = try KeyboardBench(.hearing("installed"))
        let keyboard = try bench.keyboards.plug()
        let keys = try CommandRun(
            home.path("own/bin/utter"), ["keys", "--evdev"],
            environment: bench.control.bench.environment.merging(bench.keyboards.environment) {
                $1
            })
        #expect(await keys.wait(for: "and speak, or tap it", in: .error))
        try keyboard.press()
        try await bench.isHeard()
        try keyboard.release()
        #expect(await keys.wait(for: "installed\n", in: .output))
    }

    @Test func foldersThatWereThereBeforeOrAreUsedStay() async throws {
        let home = try TemporaryFolder()
        try ForeignTool("mkdir").run(["-p", home.path("own/bin"), home.path("own/share/man")])
        #expect(try await run("install", "~/own", home: home).status == .exited(0))
        try home.write([], to: "own/share/man/man1/other.1")
        #expect(try await run("uninstall", "~/own", home: home).status == .exited(0))
        #expect(
            try paths(below: home.path) == [
                "/own", "/own/bin", "/own/share", "/own/share/man", "/own/share/man/man1",
                "/own/share/man/man1/other.1",
            ])
    }

    @Test func aRelativePrefixIsRefused() async throws {
        let home = try TemporaryFolder()
        let result = try await run("install", "local", home: home)
        #expect(result.status == .exited(64))
        #expect(result.errorText.contains("PREFIX is 'local', which is no absolute path"))
        #expect(try paths(below: home.path) == [])
    }
}
