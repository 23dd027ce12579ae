// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterCommands

/// `--copy` and `--type`, with programs that stand for those of a desktop.
@Suite struct DesktopTests {
    private let desk: Desk
    private let server: RecordingServer

    init() throws {
        desk = try Desk()
        server = try RecordingServer(otherwise: .answer(text: "go forward"))
    }

    private func send(
        _ options: [String], on variables: [String: String], answer: RecordingServer? = nil
    ) async throws -> CommandResult {
        let bench = try Bench(server: answer ?? server, variables)
        return try await bench.start(["send", Clip.digits.path] + options).result()
    }

    private func session(_ name: String) -> [String: String]? {
        [
            "Wayland": desk.wayland, "X11": desk.x11, "console": desk.console,
            "both": desk.wayland.merging(desk.x11) { one, _ in one },
        ][name]
    }

    /// In a session, beside other programs, one is used with arguments.
    @Test(
        arguments: [
            ("--copy", "both", ["xclip"], "wl-copy", ["--type", "text/plain"]),
            (
                "--copy", "X11", ["xsel", "wl-copy"], "xclip",
                ["-selection", "clipboard", "-in"]
            ),
            ("--copy", "X11", [], "xsel", ["--clipboard", "--input"]),
            ("--type", "Wayland", [], "wtype", ["-"]),
            ("--type", "X11", [], "xdotool", ["type", "--clearmodifiers", "--file", "-"]),
            ("--type", "console", [], "ydotool", ["type", "--file", "-"]),
        ] as [(String, String, [String], String, [String])])
    func theProgramOfTheSessionGetsTheText(
        _ option: String, _ name: String, _ others: [String], _ used: String,
        _ arguments: [String]
    ) async throws {
        for program in others + [used] { try desk.add(program) }
        let result = try await send([option], on: try #require(session(name)))
        #expect(result.status == .exited(0), "\(result.errorText)")
        // The text is where it was asked for, and nowhere else; a line feed would be pasted too.
        #expect(result.output.isEmpty)
        #expect(desk.text(of: used) == "go forward")
        #expect(desk.arguments(of: used) == arguments)
        for other in others { #expect(desk.text(of: other) == nil) }
    }

    @Test func aProgramForX11IsNotAskedToTypeOnWayland() async throws {
        try desk.add("xdotool")
        let result = try await send(["--type"], on: try #require(session("both")))
        #expect(result.status == .exited(78))
        #expect(result.errorText.contains("--type: wtype and ydotool are not installed"))
        #expect(result.errorText.contains("hint: install one: sudo apt install wtype"))
        #expect(desk.text(of: "xdotool") == nil)
        #expect(server.requests.isEmpty)
    }

    @Test func whatATerminalWouldObeyIsNotTyped() async throws {
        let answer = #"{"text": "--help \u001b]0;x\u0007\nrm -rf\t.\r \u009b2J\u202eevil\u2066"}"#
        let hostile = try RecordingServer(otherwise: .answer(text: answer))
        try desk.add("wtype")
        let result = try await send(["--type"], on: desk.wayland, answer: hostile)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(desk.text(of: "wtype") == "--help  rm -rf . evil")
        #expect(desk.arguments(of: "wtype") == ["-"])
    }

    @Test func aTextIsTypedWithoutEnterAndTab() {
        #expect(TextSink.typed("one\ntwo\r\n\tthree\t\u{2028}four\n") == "one two three four")
        #expect(TextSink.typed("a\u{1B}[2Jb\u{200F}c\u{202E}d\u{7F}") == "ab\u{200F}cd")
    }

    @Test func theNextProgramIsTriedWhenOneFails() async throws {
        try desk.add("wtype", then: "echo 'no virtual keyboard' >&2; exit 1")
        try desk.add("ydotool")
        let result = try await send(["--type"], on: desk.wayland)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(desk.text(of: "ydotool") == "go forward")
        #expect(result.output.isEmpty)
    }

    @Test func aTextThatNoProgramTakesIsPrinted() async throws {
        try desk.add("wl-copy", then: "printf 'no \\033[31mcompositor\\n' >&2; exit 3")
        let result = try await send(["--copy"], on: desk.wayland)
        #expect(result.status == .exited(74))
        #expect(result.outputText == "go forward\n")
        #expect(
            result.errorText.contains(
                "utter: error: --copy: wl-copy ended with status 3: no compositor\n"))
        #expect(result.errorText.contains("utter: hint: once that works, have the text again"))
        #expect(result.hasPlainErrors)
    }

    @Test func whatYdotoolCannotTypeIsPrinted() async throws {
        let german = try RecordingServer(otherwise: .answer(text: "grün"))
        try desk.add("ydotool")
        let result = try await send(["--type"], on: desk.console, answer: german)
        #expect(result.status == .exited(74))
        #expect(result.outputText == "grün\n")
        #expect(result.errorText.contains("--type: ydotool can type ASCII only"))
        #expect(desk.text(of: "ydotool") == nil)
    }

    /// What another program copies meanwhile stays, and so does our text when the old one cannot be read.
    @Test(
        arguments: [
            ("X11", "before", nil, "before"), ("X11", "before", "other", "other"),
            ("X11", nil, nil, "Größe"), ("Wayland", "before", nil, "before"),
        ] as [(String, String?, String?, String)])
    func whatAProgramWouldLoseIsPastedAndPrinted(
        _ name: String, _ before: String?, _ other: String?, _ after: String
    ) async throws {
        let isWayland = name == "Wayland"
        // 26 letters that are not ASCII are more than wtype can type.
        let text = isWayland ? Self.letters(26) : "Größe"
        let (board, typist) = isWayland ? ("wl-copy", "wtype") : ("xclip", "xdotool")
        try desk.addClipboard(
            board, reader: isWayland ? "wl-paste" : board, holding: before, pasting: typist,
            copying: other)
        let result = try await send(
            ["--type"], on: try #require(session(name)),
            answer: RecordingServer(otherwise: .answer(text: text)))
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(desk.pasted == text)
        #expect(desk.clipboard == after)
        #expect(result.outputText == text + "\n")
        #expect(
            result.errorText.contains(
                "warning: \(typist) cannot type this text: it was pasted with Ctrl+V"))
        #expect(result.errorText.contains("the clipboard is left as it is") == (after != before))
    }

    /// So many different letters that are not ASCII.
    private static func letters(_ count: UInt32) -> String {
        String(String.UnicodeScalarView((0xE0..<0xE0 + count).compactMap { Unicode.Scalar($0) }))
    }

    @Test func wtypeTypes25LettersThatAreNotASCII() async throws {
        try desk.add("wtype")
        let result = try await send(
            ["--type"], on: desk.wayland,
            answer: RecordingServer(otherwise: .answer(text: Self.letters(25))))
        #expect(result.status == .exited(0) && result.output.isEmpty, "\(result.errorText)")
        #expect(desk.text(of: "wtype") == Self.letters(25))
    }

    @Test func withoutADesktopNothingIsSent() async throws {
        try desk.add("wl-copy")
        // ydotool would do without a desktop, and is not there.
        for option in ["--copy", "--type"] {
            let result = try await send([option], on: desk.console)
            #expect(result.status == .exited(78))
            #expect(result.errorText.contains("\(option): there is no desktop"))
        }
        #expect(server.requests.isEmpty)
    }

    @Test func aProgramThatStaysInTheBackgroundIsNotWaitedFor() async throws {
        // As wl-copy does, with all that it was given.
        try desk.add("wl-copy", then: "/bin/sleep 20 &")
        let result = try await send(["--copy"], on: desk.wayland)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(desk.text(of: "wl-copy") == "go forward")
    }

    @Test func noSecretIsInTheirEnvironment() async throws {
        try desk.add("wl-copy")
        let secrets = ["UTTER_TOKEN": "s3cret-1", "DEEPGRAM_API_KEY": "s3cret-2"]
        let result = try await send(
            ["--copy"], on: desk.wayland.merging(secrets) { one, _ in one })
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(!desk.environment(of: "wl-copy").contains("s3cret"))
        #expect(desk.environment(of: "wl-copy").contains("WAYLAND_DISPLAY=wayland-1"))
    }
}
