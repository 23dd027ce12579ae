// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import SpeechService
@testable import Utter

/// Where a secret is read, and which files are refused.
@Suite struct SecretSourceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ text: String, _ mode: mode_t = 0o600) throws -> String {
        let path = try folder.write(Array(text.utf8), to: "key")
        chmod(path, mode)
        return path
    }

    @Test func onlyTheFirstLineOfAFileIsTheSecret() async throws {
        let path = try file("  sesame-4711 \r\n# a remark\n")
        #expect(try await SecretSource.file(path).read() == "sesame-4711")
    }

    @Test func aFieldOfAFileIsReadByItsName() async throws {
        let path = try file("# mine\nX-Model: large\nxi-api-key: sesame\n")
        #expect(try await SecretSource.headerFile(path, field: "Xi-Api-Key").read() == "sesame")
        let other = SecretSource.headerFile(path, field: "X-Other")
        #expect(await reason(other) == "the file '\(path)' does not hold it any more")
    }

    @Test(arguments: [
        ("sesame", 0o644, "can be read by others"), ("sesame", 0o640, "can be read by others"),
        ("sesame", 0o604, "can be read by others"), ("", 0o600, "has nothing on its first line"),
        (String(repeating: "x", count: 20_000), 0o600, "is too long for a key"),
    ])
    func aFileThatHoldsNoSecretIsRefused(_ text: String, _ mode: Int, _ why: String) async throws {
        let path = try file(text, mode_t(mode))
        #expect(await reason(.file(path)) == "'\(path)' \(why)")
    }

    @Test func whatIsNotThereIsNamed() async throws {
        #expect(await reason(.variable("UTTER_TEST_NONE")) == "UTTER_TEST_NONE is not set")
        #expect(await reason(.file(folder.path)) == "'\(folder.path)' is a folder")
        #expect(await reason(.credential("../key")) == "'../key' is no name of a credential")
        #expect(
            await reason(.command("pass speech"))
                == "the program cannot read the command 'pass speech'")
    }

    @Test func aPipeWithoutAWriterIsNotAwaitedForEver() throws {
        let path = folder.path("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: ReadingError.self) {
            try OwnFile(path, patience: .zero).firstLine()
        }
        #expect(error?.description == "'\(path)' is a pipe from which nothing came for 0 s")
    }

    private func reason(_ source: SecretSource) async -> String {
        do throws(ReadingError) {
            return try await source.read()
        } catch {
            return error.description
        }
    }
}
