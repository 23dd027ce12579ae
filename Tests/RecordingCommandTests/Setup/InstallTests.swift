// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `scripts/install.sh` as make runs it, with this build.
@Suite struct InstallTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    private func run(_ action: String, _ prefix: String) async throws -> CommandResult {
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

    private func install(_ prefix: String) async throws {
        let installed = try await run("install", prefix)
        #expect(installed.status == .exited(0), "\(installed.errorText)")
    }

    /// What is in the home.
    private func paths() throws -> [String] {
        try ForeignTool("find").run([home.path, "-mindepth", "1"]).text.split(separator: "\n")
            .map { String($0.dropFirst(home.path.count)) }.sorted()
    }

    /// Into folders of which some are there already; the tilde is the one that the shell has left.
    @Test func whatIsInstalledIsUpgradedAndRemovedFileByFile() async throws {
        try ForeignTool("mkdir").run(["-p", home.path(".local/bin"), home.path(".local/share/man")])
        try await install("~/.local")
        let paths = try paths()
        for name in [
            "bin/utter", "bin/utter-work", "libexec/utter/utter-keys",
            "libexec/utter/utter-ear",
            "share/applications/org.utter.Utter.desktop", "share/man/man1/utter.1",
            "share/man/man1/utter-send.1", "share/man/man1/utter-serve.1",
            "share/man/man1/utter-keys.1", "share/man/man1/utter-work.1",
            "share/man/man7/utter.7", "share/utter/outcome.schema.json",
            "share/utter/events.schema.json", "share/utter/list.schema.json",
        ] {
            #expect(paths.contains("/.local/\(name)"), "\(name)")
        }
        // What is completed are the commands of this program.
        for name in [
            "bash-completion/completions/utter", "zsh/site-functions/_utter",
            "fish/vendor_completions.d/utter.fish",
        ] {
            let script = String(decoding: try home.read(".local/share/\(name)"), as: UTF8.self)
            #expect(script.contains("toggle"), "\(name)")
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

        // The version before had a page that is no more; another page is the person's own.
        let list = ".local/share/utter/files"
        _ = try home.write(
            try home.read(list) + Array("share/man/man1/utter-old.1\n".utf8), to: list)
        for page in ["utter-old.1", "utter-own.1"] {
            try home.write([], to: ".local/share/man/man1/\(page)")
        }
        try await install("~/.local")
        let names = try home.names(in: ".local/share/man/man1")
        #expect(!names.contains("utter-old.1"))
        #expect(names.contains("utter-own.1") && names.contains("utter-send.1"))

        // A file that was there before, or is used, stays.
        #expect(try await run("uninstall", "~/.local").status == .exited(0))
        #expect(
            try self.paths() == [
                "/.local", "/.local/bin", "/.local/share", "/.local/share/man",
                "/.local/share/man/man1", "/.local/share/man/man1/utter-own.1",
            ])
    }

    /// It is linked to its libraries, records, encodes and sends, watches a key and finds the
    /// recorder.
    @Test func theInstalledProgramWorksAndGoesWithoutATrace() async throws {
        try await install("~/own")
        let program = home.path("own/bin/utter")
        let loaded = try ForeignTool("ldd").run([program]).text
        let names = ["FLAC", "asound", "crypto", "curl", "ogg", "opus", "samplerate"]
        for name in names { #expect(loaded.contains("lib\(name).so."), "\(loaded)") }
        // Each costs every start.
        for name in ["evdev", "systemd"] { #expect(!loaded.contains("lib\(name)."), "\(loaded)") }
        #expect(!loaded.contains("not found"), "\(loaded)")
        let endpoint = try ForeignTool("ldd").run([home.path("own/libexec/utter/utter-endpoint")])
        #expect(!endpoint.text.contains("sphinx"), "\(endpoint.text)")

        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("installed"))
        let bench = try Bench(server: server, microphone: card)
        for format in ["pcm", "ogg-opus", "flac"] {
            let result = try await CommandRun.run(
                program, ["--for", "300ms", "--format", format], environment: bench.environment)
            #expect(result.status == .exited(0), "\(result.errorText)")
            #expect(result.outputText == "installed\n")
        }
        #expect(server.requests.first?.body == VirtualMicrophone.pcm(4_800))
        let beginnings = server.requests.dropFirst().map { $0.body.prefix(4) }
        #expect(beginnings.map { String(decoding: $0, as: UTF8.self) } == ["OggS", "fLaC"])

        let desk = try KeyboardBench(.hearing("installed"))
        let keyboard = try desk.keyboards.plug()
        let keys = try CommandRun(
            program, ["keys", "--evdev"],
            environment: desk.control.bench.environment.merging(desk.keyboards.environment) { $1 })
        #expect(await keys.wait(for: "and speak, or tap it", in: .error))
        try keyboard.press()
        try await desk.isHeard()
        try keyboard.release()
        #expect(await keys.wait(for: "installed\n", in: .output))

        #expect(try await run("uninstall", "~/own").status == .exited(0))
        #expect(try paths() == [])
    }

    @Test func aRelativePrefixIsRefused() async throws {
        let result = try await run("install", "local")
        #expect(result.status == .exited(64))
        #expect(result.errorText.contains("PREFIX is 'local', which is no absolute path"))
        #expect(try paths() == [])
    }
}
