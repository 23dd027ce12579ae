// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform

@Suite struct TextFileTests {
    private let server: RecordingServer

    init() throws { server = try RecordingServer(otherwise: .answer(text: "new words")) }

    private func text(_ path: String) throws -> String {
        String(decoding: try readFile(path), as: UTF8.self)
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func theTextIsInTheFileAndNotPrinted() async throws {
        let bench = try Bench(server: server)
        let path = bench.folder.path("note.txt")
        let result = try await bench.run("send", Clip.digits.path, "-o", path)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.output.isEmpty)
        #expect(try text(path) == "new words\n")
        #expect(mode(path) == 0o600)
        #expect(try bench.folder.names().filter { $0.contains(".new") } == [])
    }

    @Test func aFileKeepsItsPermissionsAndALinkItsPlace() async throws {
        let bench = try Bench(server: server)
        let path = try bench.folder.write(Array("old".utf8), to: "note.txt")
        chmod(path, 0o644)
        symlink("note.txt", bench.folder.path("link"))
        let result = try await bench.run(
            "send", Clip.digits.path, "-o", bench.folder.path("link"))
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(try text(path) == "new words\n")
        #expect(mode(path) == 0o644)
        var status = stat()
        #expect(lstat(bench.folder.path("link"), &status) == 0)
        #expect(status.st_mode & S_IFMT == S_IFLNK)
    }

    @Test func aFileIsAtNoTimeHalfWritten() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array("old".utf8), to: "note")
        let before = open(path, O_RDONLY)
        defer { close(before) }
        try NamedFile(path).replace(with: Array("new".utf8))
        // What has the old file open has the old text still: nothing was written over it.
        #expect(try readAll(before, limit: 100) == Array("old".utf8))
        #expect(try readFile(path) == Array("new".utf8))
    }

    @Test func theTextsOfARunFollowEachOther() async throws {
        let bench = try Bench(server: server)
        let path = try bench.folder.write(Array("old".utf8), to: "note.txt")
        let result = try await bench.run(
            "send", Clip.digits.path, Clip.cards.path, "-o", path, "-o", "-")
        #expect(result.status == .exited(0), "\(result.errorText)")
        let lines = "\(Clip.digits.path): new words\n\(Clip.cards.path): new words\n"
        #expect(result.outputText == lines)
        #expect(try text(path) == lines)
    }

    @Test func whatCannotBeWrittenIsSaidBeforeAnythingIsSent() async throws {
        let bench = try Bench(server: server)
        for (path, reason) in [
            (bench.folder.path("none/note.txt"), "No such file or directory"),
            (bench.folder.path, "Is a directory"),
        ] {
            let result = try await bench.run("send", Clip.digits.path, "-o", path)
            #expect(result.status == .exited(78))
            #expect(
                result.errorText.contains("error: -o: '\(path)' cannot be written: \(reason)"),
                "\(result.errorText)")
        }
        #expect(server.requests.isEmpty)
    }

    @Test func aTextThatItsFileDoesNotTakeIsPrinted() async throws {
        let folder = try TemporaryFolder()
        let place = folder.path("place")
        mkdir(place, 0o700)
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd, .perform { _ in rmdir(place) },
                .respond(status: 200, text: "saved words"),
            ])
        let bench = try Bench(server: server)
        let result = try await bench.run("send", Clip.digits.path, "-o", "\(place)/note.txt")
        #expect(result.status == .exited(74))
        #expect(result.outputText == "saved words\n")
        #expect(result.errorText.contains("error: -o: '\(place)/note.txt' cannot be written"))
        #expect(try await bench.run("last").outputText == "saved words\n")
    }

    @Test func theFileOfJsonHasTheObject() async throws {
        let bench = try Bench(server: server)
        let path = bench.folder.path("note.json")
        let result = try await bench.run("send", Clip.digits.path, "--json", "-o", path)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.output.isEmpty)
        #expect(try JSONText(readFile(path))["text"] == .string("new words"))
    }

    @Test func noLineFeedIsWrittenWhenNoneIsWanted() async throws {
        let bench = try Bench(server: server)
        let one = try await bench.run("send", Clip.digits.path, "--no-newline")
        #expect(one.outputText == "new words")
        let several = try await bench.run(
            "send", Clip.digits.path, Clip.cards.path, "--no-newline")
        #expect(
            several.outputText
                == "\(Clip.digits.path): new words\n\(Clip.cards.path): new words")
    }

    @Test func aFileIsNeverOverwrittenByOneThatIsNew() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array("old".utf8), to: "note")
        #expect(throws: SystemError.self) { try NamedFile(path).create(with: [1]) }
        #expect(try readFile(path) == Array("old".utf8))
        #expect(try folder.names() == ["note"])
    }

    /// The shell has the same file, and goes on behind what was written.
    @Test(arguments: ["/dev/stdout", "/dev/fd/3"])
    func aFileBehindADescriptorIsWrittenTo(_ name: String) async throws {
        let bench = try Bench(server: server)
        let path = bench.folder.path("out")
        let script = #"""
            { echo before; "$0" send -q -o "$3" "$1" 3>&1; echo after; } > "$2"
            """#
        let result = try await bench.startShell(script, [Clip.digits.path, path, name]).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(String(decoding: try readFile(path), as: UTF8.self) == "before\nnew words\nafter\n")
    }

    @Test func aPipeIsWrittenTo() async throws {
        let bench = try Bench(server: server)
        let pipe = bench.folder.path("pipe")
        mkfifo(pipe, 0o600)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let result = try await bench.run("send", Clip.digits.path, "-o", pipe)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(try readAll(reader, limit: 100) == Array("new words\n".utf8))
    }
}
