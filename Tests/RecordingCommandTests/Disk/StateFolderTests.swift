// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Where takes are kept, and what happens when they cannot be.
@Suite struct StateFolderTests {
    private let place: TemporaryFolder
    /// What takes are kept in where that is not possible.
    private let file: String

    init() throws {
        place = try TemporaryFolder()
        file = try place.write([], to: "file")
    }

    @Test(arguments: ["", "relative/path"])
    func withoutXdgStateHomeTakesAreInTheHomeForTheirOwnerOnly(_ variable: String) async throws {
        let bench = try Bench(["XDG_STATE_HOME": variable])
        _ = try await bench.run("send", "-c", "retry.never=true", Clip.digits.path)
        let state = ".local/state/utter"
        let takes = try bench.folder.names(in: "\(state)/takes")
        #expect(takes.count == 1)
        for take in takes.map({ "\(state)/takes/\($0)" }) {
            for folder in [state, take] {
                #expect(try mode(of: bench.folder.path(folder)) == 0o700)
            }
            for file in try bench.folder.names(in: take) {
                #expect(try mode(of: bench.folder.path("\(take)/\(file)")) == 0o600)
            }
        }
    }

    @Test func aTakeInMemoryGetsAnotherPlaceAtTheEnd() async throws {
        let result = try await Bench(["XDG_STATE_HOME": file, "TMPDIR": place.path]).run(
            "send", "-c", "retry.never=true", Clip.digits.path)
        #expect(result.status == .exited(74))
        #expect(!result.errorText.contains("gone"))
        #expect(!result.errorText.contains("is kept"))
        let name = try #require(try place.names().first { $0.hasSuffix(".wav") })
        #expect(result.errorText.contains("utter: saved: \(place.path(name))\n"))
        let saved = try readFile(place.path(name))
        #expect(Array(saved.dropFirst(44)) == (try Clip.digits.samples))
        #expect(try mode(of: place.path(name)) == 0o600)
    }

    @Test(arguments: ["/proc/none", "/dev/null"])
    func aPlaceThatCannotBeWrittenIsNotTheLast(_ folder: String) async throws {
        let result = try await Bench(["XDG_STATE_HOME": file, "TMPDIR": folder]).run(
            "send", "-c", "retry.never=true", Clip.digits.path)
        let mark = "utter: saved: "
        let line = try #require(
            result.errorText.split(separator: "\n").first { $0.hasPrefix(mark) })
        let path = String(line.dropFirst(mark.count))
        #expect(try Array(readFile(path).dropFirst(44)) == Clip.digits.samples)
        #expect(unlink(path) == 0)
    }

    @Test func aNameThatCannotBeWrittenLosesNothing() async throws {
        let terminal = try PseudoTerminal(columns: 200)
        let run = try Bench(["XDG_STATE_HOME": file, "TMPDIR": place.path]).start(
            ["send", "-c", "retry.never=true", Clip.digits.path], input: .terminal,
            terminal: terminal)
        #expect(await run.wait(for: "or another name]", in: .screen))
        try terminal.type("/dev/null/x.wav\n")
        _ = try await run.result()
        #expect(try place.names().contains { $0.hasSuffix(".wav") })
    }

    @Test func nothingIsWrittenInTheClearThatWasToBeEncrypted() async throws {
        let key = try place.write(Array("horse battery staple\n".utf8), to: "key")
        chmod(key, 0o600)
        let result = try await Bench(["XDG_STATE_HOME": file, "TMPDIR": place.path]).run(
            "send", "-c", "retry.never=true", "--encrypt-key", key, Clip.digits.path)
        #expect(result.errorText.hasSuffix("utter: not kept: send the file once more\n"))
        #expect(try place.names().sorted() == ["file", "key"])
    }

    @Test func withNoKeepNothingIsCalledKeptAndNoFileGone() async throws {
        let result = try await Bench(["TMPDIR": place.path]).run(
            "send", "--no-keep", "--pace", "realtime", Clip.digits.path)
        #expect(result.status == .exited(75))
        #expect(result.errorText.contains("reading goes on, in memory only, trying again"))
        #expect(!result.errorText.contains("nothing is lost"))
        #expect(result.errorText.hasSuffix("utter: not kept: send the file once more\n"))
        #expect(try place.names() == ["file"])
    }

    @Test func whatAPipeHasSaidIsGoneWithNoKeep() async throws {
        let run = try Bench(["TMPDIR": place.path]).start(
            ["send", "--no-keep", "-c", "retry.never=true", "-"], input: .pipe)
        run.write(Array(try Clip.digits.samples))
        run.closeInput()
        let result = try await run.result()
        #expect(result.status == .exited(75))
        #expect(
            result.errorText.hasSuffix("utter: the recording was in memory only, and is gone\n"))
        #expect(try place.names() == ["file"])
    }

    @Test func whatAPipeHasSaidIsGoneWithACtrlC() async throws {
        let server = try RecordingServer(otherwise: [.readHead, .readOn])
        let run = try Bench(server: server, ["TMPDIR": place.path]).start(
            ["send", "--no-keep", "-"], input: .pipe)
        run.write(Array(try Clip.digits.samples))
        _ = try #require(await server.wait(untilBytes: 6_400))
        run.signal(SIGINT)
        let result = try await run.result()
        #expect(result.status == .exited(130))
        #expect(
            result.errorText.hasSuffix(
                "utter: cancelled\nutter: the recording was in memory only, and is gone\n"))
    }

    private func mode(of path: String) throws -> mode_t {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status.st_mode & 0o777
    }
}
