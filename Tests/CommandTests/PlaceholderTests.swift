// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The libraries that stand for those of libcurl which are of no use (scripts/placeholders.sh).
@Suite struct PlaceholderTests {
    /// A program that was installed with its placeholders, and the libraries that it loads.
    private struct Installation {
        let bench: Bench
        private let program: String
        private let log: String

        init(_ bench: Bench) throws {
            self.bench = bench
            program = bench.folder.path("bin/utter")
            log = bench.folder.path("libraries")
            let utter = try #require(BuiltProducts.path(of: "utter"))
            try ForeignTool("mkdir").run([bench.folder.path("bin")])
            try ForeignTool("cp").run(["-L", utter, program])
            try ForeignTool(SourceTree.path("scripts/placeholders.sh")).run([path("")])
        }

        /// The path of a placeholder.
        func path(_ name: String) -> String { bench.folder.path("lib/utter/\(name)") }

        /// Runs the program; says what it printed and what it had loaded at its end.
        func run(_ arguments: String...) async throws -> (CommandResult, libraries: Set<String>) {
            let variables = ["LD_DEBUG": "files", "LD_DEBUG_OUTPUT": log]
            let run = try CommandRun(
                program, arguments, environment: bench.environment.merging(variables) { $1 })
            let result = try await run.result()
            let lines = try String(
                decoding: readFile("\(log).\(run.processIdentifier)"), as: UTF8.self)
            let names = lines.matches(of: /calling init: \S*\/(\S+)/).map { String($0.1) }
            return (result, Set(names))
        }
    }

    @Test func whatLibcurlIsNotAskedForIsNotLoaded() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "short"))
        let installation = try Installation(Bench(server: server))
        let (result, libraries) = try await installation.run("send", Clip.digits.path)
        #expect(result.outputText == "short\n")
        #expect(result.error.isEmpty || result.hasPlainErrors)
        #expect(libraries.isSuperset(of: ["libcurl.so.4", "libutter-placeholders.so"]))
        // What the placeholders' libraries would have brought along.
        #expect(libraries.isDisjoint(with: ["libgnutls.so.30", "libkrb5.so.3", "libsasl2.so.2"]))
    }

    @Test func aLibcurlThatAsksForMoreIsLoadedWithoutThem() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "long"))
        let installation = try Installation(Bench(server: server))
        // As if a newer libcurl had found a function missing.
        try ForeignTool("cc").run([
            "-shared", "-nostdlib", "-Wl,-soname,libssh2.so.1", "-o",
            installation.path("libssh2.so.1"), "-x", "c", "/dev/null",
        ])
        try ForeignTool("cc").run([
            "-shared", "-nostdlib", "-Wl,--no-as-needed,-rpath,$ORIGIN", "-o",
            installation.path("libutter-placeholders.so"), installation.path("libssh2.so.1"),
        ])
        let (result, libraries) = try await installation.run("send", Clip.digits.path)
        #expect(result.outputText == "long\n")
        #expect(libraries.isSuperset(of: ["libcurl.so.4", "libgnutls.so.30"]))
    }

    @Test func tlsIsTheRealOne() async throws {
        let installation = try Installation(Bench())
        let server = try TLSServer(in: installation.bench.folder)
        async let ended = installation.run(
            "send", "--to", try await server.url, "--cacert", server.certificate, Clip.digits.path)
        #expect(await server.answer("Hello"))
        #expect(try await ended.0.outputText == "Hello\n")
    }
}
