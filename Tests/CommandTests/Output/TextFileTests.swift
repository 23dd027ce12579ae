// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import UtterCommands

@Suite struct TextFileTests {
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        server = try .hearing("new words")
        bench = try Bench(server: server)
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try readFile(path), as: UTF8.self)
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func theTextIsInTheFileAndNotPrinted() async throws {
        let path = bench.folder.path("note.txt")
        let result = try await bench.run("send", Clip.digits.path, "-o", path)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.output.isEmpty)
        #expect(try text(path) == "new words\n")
        #expect(mode(path) == 0o600)
        #expect(try bench.folder.names().filter { $0.contains(".new") } == [])
    }

    /// Writes a text to a file in this process.
    private func give(to path: String) async -> [String] {
        await onOwnThread {
            TextOutput([.file(path)], form: .text, endsLines: true).give("new words")
                .map(\.failure.message)
        }
    }

    @Test func aFileKeepsItsPermissionsAndALinkItsPlace() async throws {
        let path = try bench.folder.write(Array("old".utf8), to: "note.txt")
        chmod(path, 0o644)
        symlink("note.txt", bench.folder.path("link"))
        // A link may lead to a file that is not there yet.
        symlink("new.txt", bench.folder.path("second"))
        symlink(bench.folder.path("second"), bench.folder.path("first"))
        for (link, name) in [("link", "note.txt"), ("first", "new.txt")] {
            #expect(await give(to: bench.folder.path(link)) == [])
            #expect(try text(bench.folder.path(name)) == "new words\n")
        }
        #expect(mode(path) == 0o644)
        for (name, kind) in [
            ("link", S_IFLNK), ("first", S_IFLNK), ("second", S_IFLNK), ("new.txt", S_IFREG),
        ] {
            var status = stat()
            #expect(lstat(bench.folder.path(name), &status) == 0)
            #expect(status.st_mode & S_IFMT == kind)
        }
    }

    /// The name of each file begins with "é" in Latin-1.
    @Test func aNameThatIsNotUTF8IsWrittenAsItIs() async throws {
        _ = try await bench.run("send", "--keep-audio", "1d", Clip.digits.path)
        for (command, ending) in [
            (#""$0" export last "$name""#, "1.wav"),
            (#""$0" send -o "$name" "$1""#, "2.txt"),
            (#""$0" send --output-dir "$name" "$1""#, "3"),
            (#"cp "$1" "$name"; "$0" send -o "$name" "$name""#, "4.wav"),
        ] {
            let script =
                "cd \"$HOME\"; name=$(printf '\\351')\(ending); \(command) && ls -d \"$name\""
            let result = try await bench.startShell(script, [Clip.digits.path]).result()
            #expect(result.status == .exited(0), "\(result.errorText)")
            #expect(result.output == [0xE9] + Array("\(ending)\n".utf8))
        }
    }

    @Test func eachNameHasAFormOfItsOwn() {
        let names: [[UInt8]] = [
            [0xE9], Array("é".utf8), Array("a\u{10FFE9}b".utf8), [0xF4, 0x8F, 0xBF], [0xC3, 0x41],
            [0xFF, 0xFE, 0x2F, 0x80], Array("日本".utf8) + [0x93], [],
        ]
        for name in names {
            let text = (name.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer {
                $0.baseAddress.map { String(cPath: $0) }
            }
            #expect(text?.pathBytes == name)
        }
        #expect("é/日本.wav".pathBytes == Array("é/日本.wav".utf8))
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
        let path = try bench.folder.write(Array("old".utf8), to: "note.txt")
        let result = try await bench.run(
            "send", Clip.digits.path, Clip.cards.path, "-o", path, "-o", "-")
        #expect(result.status == .exited(0), "\(result.errorText)")
        let lines = "\(Clip.digits.path): new words\n\(Clip.cards.path): new words\n"
        #expect(result.outputText == lines)
        #expect(try text(path) == lines)
    }

    /// A place that cannot be written ends with one status, whichever option names it.
    @Test func whatCannotBeWrittenIsSaidBeforeAnythingIsSent() async throws {
        try bench.folder.write([], to: "file")
        for (option, name, reason) in [
            ("-o", "none/note.txt", "No such file or directory"), ("-o", ".", "Is a directory"),
            ("--output-dir", "none/x", "No such file or directory"),
            ("--output-dir", "file", "Not a directory"),
        ] {
            let path = bench.folder.path(name)
            let error = #expect(throws: CommandFailure.self) {
                if option == "-o" {
                    try TextSink.file(path).check()
                } else {
                    _ = try TranscriptFolder(path, replaces: false, of: ["a.wav"])
                }
            }
            #expect(error?.status == .configuration)
            #expect(error?.message == "\(option): '\(path)' cannot be written: \(reason)")
        }
        let result = try await bench.run("send", Clip.digits.path, "-o", bench.folder.path)
        #expect(result.status == .exited(78))
        #expect(server.connectionCount == 0)
    }

    /// The folder goes before the text comes.
    @Test(arguments: [("-o", "place/note.txt"), ("--output-dir", "place")])
    func aTextThatItsPlaceDoesNotTakeIsPrinted(_ option: String, _ name: String) async throws {
        let folder = try TemporaryFolder()
        let place = folder.path("place")
        mkdir(place, 0o700)
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd, .perform { _ in rmdir(place) },
                .respond(status: 200, text: "saved words"),
            ])
        let bench = try Bench(server: server)
        let result = try await bench.run("send", Clip.digits.path, option, folder.path(name))
        #expect(result.status == .exited(74))
        #expect(result.outputText == "saved words\n")
        let reason =
            option == "-o" ? "error: -o: '\(place)/note.txt' cannot be written" : "--output-dir: "
        #expect(result.errorText.contains(reason))
        #expect(try await bench.run("last").outputText == "saved words\n")
    }

    @Test func noLineFeedIsWrittenWhenNoneIsWanted() async throws {
        let several = try await bench.run(
            "send", Clip.digits.path, Clip.cards.path, "-c", "output.newline=false")
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
        let path = bench.folder.path("out")
        let script = #"""
            { echo before; "$0" send -q -o "$3" "$1" 3>&1; echo after; } > "$2"
            """#
        let result = try await bench.startShell(script, [Clip.digits.path, path, name]).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(try text(path) == "before\nnew words\nafter\n")
    }

    @Test func aPipeIsWrittenTo() async throws {
        let pipe = bench.folder.path("pipe")
        mkfifo(pipe, 0o600)
        let reader = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        #expect(await give(to: pipe) == [])
        #expect(try readAll(reader, limit: 100) == Array("new words\n".utf8))
    }
}

/// `--output-dir`: a file for each text.
@Suite struct TranscriptFolderTests {
    private static let timed = """
        {"type":"final","text":"go forward","words":[\
        {"word":"go","start":0.1,"end":0.4},{"word":"forward","start":0.5,"end":1.25}]}

        """

    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        server = try .hearing("new")
        bench = try Bench(server: server)
    }

    private func text(_ bench: Bench, _ name: String) throws -> String {
        String(decoding: try bench.folder.read(name), as: UTF8.self)
    }

    /// It is found out before anything is sent.
    @Test(arguments: ["txt", "srt", "vtt", "json"])
    func noFileThatIsThereIsReplaced(_ ending: String) throws {
        try bench.folder.write([], to: "talk.\(ending)")
        let place = bench.folder.path
        try TranscriptFolder(place, replaces: true, of: ["talk.wav"]).check("talk.wav")
        let folder = try TranscriptFolder(place, replaces: false, of: ["talk.wav"])
        #expect(throws: CommandFailure.self) { try folder.check("talk.wav") }
    }

    /// A word without times, or with ones that cannot be, is in the text alone; the recording has an end.
    private static let odd = """
        {"text":"go forward ten meters","words":[{"word":"go","start":0.1,"end":0.4},\
        {"word":"forward","start":0.5,"end":360000},{"word":"meters","start":2,"end":1}]}
        """

    @Test func eachTextIsInAFileOfItsNameWithTheTimesThatItsWordsHave() async throws {
        let server = try RecordingServer(
            scripts: [.answer(text: "one"), .answer(text: Self.timed)],
            otherwise: .answer(text: Self.odd))
        let bench = try Bench(server: server)
        let out = bench.folder.path("out")
        let clips = [Clip.digits, .cards, .goForward]
        let result = try await bench.start(
            ["send"] + clips.map(\.path) + ["--output-dir", out]
        ).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.output.isEmpty)
        let names = clips.map { TranscriptFolder.name(of: $0.path) }
        #expect(try text(bench, "out/\(names[0]).txt") == "one\n")
        let timed = names[1...].flatMap { name in
            ["json", "srt", "txt", "vtt"].map { "\(name).\($0)" }
        }
        #expect(
            try bench.folder.names(in: "out").sorted() == (["\(names[0]).txt"] + timed).sorted())
        #expect(
            try text(bench, "out/\(names[1]).srt")
                == "1\n00:00:00,100 --> 00:00:01,250\ngo forward\n")
        #expect(
            try text(bench, "out/\(names[1]).vtt")
                == "WEBVTT\n\n00:00:00.100 --> 00:00:01.250\ngo forward\n")
        let json = try bench.folder.read("out/\(names[1]).json")
        #expect(try Schema(name: "outcome").judge(json) == 1)
        #expect(try ParsedJSON(json)["text"] == .string("go forward"))
        let odd = "\(out)/\(names[2]).srt"
        #expect(
            result.errorText.contains(
                "warning: 2 words of the text have no times, and are not in '\(odd)'"))
        let times = try text(bench, "out/\(names[2]).srt").split(separator: "\n")
        #expect(times.count == 3 && times[1].hasPrefix("00:00:00,100 --> 00:00:02,"), "\(times)")
    }

    @Test func whatIsThereIsNotSentAndNotReplacedUnlessForced() async throws {
        mkdir(bench.folder.path("out"), 0o700)
        let name = TranscriptFolder.name(of: Clip.digits.path)
        _ = try bench.folder.write(Array("old".utf8), to: "out/\(name).txt")
        let words = [
            "send", Clip.digits.path, Clip.cards.path, "--output-dir", bench.folder.path("out"),
        ]
        let result = try await bench.start(words).result()
        #expect(result.status == .exited(74))
        #expect(result.errorText.contains("out/\(name).txt' exists already"))
        #expect(result.errorText.contains("hint: replace it with --force"))
        #expect(try text(bench, "out/\(name).txt") == "old")
        // The other one is sent all the same.
        #expect(server.requests.count == 1)
        let forced = try await bench.start(words + ["--force"]).result()
        #expect(forced.status == .exited(0))
        #expect(try text(bench, "out/\(name).txt") == "new\n")
    }

    @Test func twoFilesOfOneNameAreRefusedBeforeAnythingIsSent() {
        let error = #expect(throws: CommandFailure.self) {
            try TranscriptFolder("/nowhere/x", replaces: false, of: ["a/same.wav", "b/same.wav"])
        }
        #expect(error?.status == .usage)
        #expect(error?.message.contains("would both become 'same.txt'") == true)
    }

    @Test func aNameIsHarmless() {
        #expect(TranscriptFolder.name(of: "a/b/note.old.wav") == "note.old")
        #expect(TranscriptFolder.name(of: "x/\u{1B}]0;t\u{7}\n\u{202E}.wav") == "_]0;t___")
        #expect(TranscriptFolder.name(of: "-") == "standard-input")
        #expect(TranscriptFolder.name(of: ".wav") == ".wav")
        #expect(TranscriptFolder.name(of: "a/..") == ".")
    }
}
