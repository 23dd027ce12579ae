// SPDX-License-Identifier: Apache-2.0

import LinuxPlatform
import TestSupport
import Testing

@testable import UtterCommands

/// `--copy` and `--type`, with programs that stand for those of a desktop.
@Suite struct DesktopTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func bench(
        on variables: [String: String], hearing text: String = "go forward"
    ) throws -> Bench {
        try Bench(server: .hearing(text), variables)
    }

    /// Does a part of the command in this process, with these variables.
    private func result<Value: Sendable>(
        on variables: [String: String], _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Result<Value, any Error> {
        let bench = try Bench(variables)
        return await onOwnThread { Result { try bench.within { try body() } } }
    }

    private func session(_ name: String) -> [String: String]? {
        [
            "Wayland": desk.wayland, "X11": desk.x11, "console": desk.console,
            "both": desk.wayland.merging(desk.x11) { one, _ in one },
        ][name]
    }

    // MARK: - In the process of the test

    /// In a session, beside other programs, one is used with arguments.
    @Test(
        arguments: [
            (.clipboard, "both", ["xclip"], "wl-copy", ["--type", "text/plain"]),
            (
                .clipboard, "X11", ["xsel", "wl-copy"], "xclip",
                ["-selection", "clipboard", "-in"]
            ),
            (.clipboard, "X11", [], "xsel", ["--clipboard", "--input"]),
            (.keyboard, "Wayland", [], "wtype", ["-"]),
            (.keyboard, "X11", [], "xdotool", ["type", "--clearmodifiers", "--file", "-"]),
            (.keyboard, "console", [], "ydotool", ["type", "--file", "-"]),
        ] as [(TextSink, String, [String], String, [String])])
    func theProgramOfTheSessionGetsTheText(
        _ sink: TextSink, _ name: String, _ others: [String], _ used: String,
        _ arguments: [String]
    ) async throws {
        for program in others + [used] { try desk.add(program) }
        let variables = try #require(session(name))
        let doubt = try await result(on: variables) { try sink.take("go forward") }
        #expect(try doubt.get() == nil)
        // A line feed would be pasted too.
        #expect(desk.text(of: used) == "go forward")
        #expect(desk.arguments(of: used) == arguments)
        for other in others { #expect(desk.text(of: other) == nil) }
    }

    @Test func aTextIsTypedWithoutEnterAndTab() {
        #expect(TextSink.typed("one\ntwo\r\n\tthree\t\u{2028}four\n") == "one two three four")
        #expect(TextSink.typed("a\u{1B}[2Jb\u{200F}c\u{202E}d\u{7F}") == "ab\u{200F}cd")
    }

    @Test func theNextProgramIsTriedWhenOneFails() async throws {
        try desk.add("wtype", then: "echo 'no virtual keyboard' >&2; exit 1")
        try desk.add("ydotool")
        let doubt = try await result(on: desk.wayland) { try TextSink.keyboard.take("go forward") }
        #expect(try doubt.get() == nil)
        #expect(desk.text(of: "ydotool") == "go forward")
    }

    @Test func whatYdotoolCannotTypeIsAFailure() async throws {
        try desk.add("ydotool")
        let taken = try await result(on: desk.console) { try TextSink.keyboard.take("grün") }
        let error = #expect(throws: CommandFailure.self) { try taken.get() }
        #expect(error?.status == .localIO)
        #expect(error?.message == "--type: ydotool can type ASCII only")
        #expect(desk.text(of: "ydotool") == nil)
    }

    /// What another program copies meanwhile stays, and so does our text when the old one cannot be read.
    @Test(
        arguments: [
            ("X11", "before", nil, "before"), ("X11", "before", "other", "other"),
            ("X11", nil, nil, "Größe"), ("Wayland", "before", nil, "before"),
        ] as [(String, String?, String?, String)])
    func whatAProgramWouldLoseIsPasted(
        _ name: String, _ before: String?, _ other: String?, _ after: String
    ) async throws {
        let isWayland = name == "Wayland"
        // 26 letters that are not ASCII are more than wtype can type.
        let text = isWayland ? Self.letters(26) : "Größe"
        let (board, typist) = isWayland ? ("wl-copy", "wtype") : ("xclip", "xdotool")
        try desk.addClipboard(
            board, reader: isWayland ? "wl-paste" : board, holding: before, pasting: typist,
            copying: other)
        let variables = try #require(session(name))
        let taken = try await result(on: variables) { try TextSink.keyboard.take(text) }
        let doubt = try #require(try taken.get())
        #expect(desk.pasted == text)
        #expect(desk.clipboard == after)
        #expect(doubt.hasPrefix("\(typist) cannot type this text: it was pasted with Ctrl+V"))
        #expect(doubt.contains("the clipboard is left as it is") == (after != before))
    }

    /// So many different letters that are not ASCII.
    private static func letters(_ count: UInt32) -> String {
        String(String.UnicodeScalarView((0xE0..<0xE0 + count).compactMap { Unicode.Scalar($0) }))
    }

    @Test func wtypeTypes25LettersThatAreNotASCII() async throws {
        try desk.add("wtype")
        let doubt = try await result(on: desk.wayland) {
            try TextSink.keyboard.take(Self.letters(25))
        }
        #expect(try doubt.get() == nil)
        #expect(desk.text(of: "wtype") == Self.letters(25))
    }

    @Test func withoutADesktopNoTextIsTaken() async throws {
        try desk.add("wl-copy")
        // ydotool would do without a desktop, and is not there.
        for (sink, option) in [(TextSink.clipboard, "--copy"), (.keyboard, "--type")] {
            let checked = try await result(on: desk.console) { try sink.check() }
            let error = #expect(throws: CommandFailure.self) { try checked.get() }
            #expect(error?.status == .configuration)
            #expect(error?.message.hasPrefix("\(option): there is no desktop") == true)
        }
    }

    @Test func aProgramThatStaysInTheBackgroundIsNotWaitedFor() async throws {
        // As wl-copy does, with all that it was given.
        try desk.add("wl-copy", then: "/bin/sleep 20 &")
        let doubt = try await result(on: desk.wayland) { try TextSink.clipboard.take("go forward") }
        #expect(try doubt.get() == nil)
        #expect(desk.text(of: "wl-copy") == "go forward")
    }

    // MARK: - What the command makes of it

    @Test func aProgramForX11IsNotAskedToTypeOnWaylandAndNothingIsSent() async throws {
        try desk.add("xdotool")
        let bench = try bench(on: try #require(session("both")))
        let result = try await bench.run("send", Clip.digits.path, "--type")
        #expect(result.status == .exited(78))
        #expect(result.errorText.contains("--type: wtype and ydotool are not installed"))
        #expect(result.errorText.contains("hint: install one: sudo apt install wtype"))
        #expect(desk.text(of: "xdotool") == nil)
        #expect(bench.requests.isEmpty)
    }

    @Test func whatATerminalWouldObeyIsNotTyped() async throws {
        let answer = #"{"text": "--help \u001b]0;x\u0007\nrm -rf\t.\r \u009b2J\u202eevil\u2066"}"#
        try desk.add("wtype")
        let result = try await bench(on: desk.wayland, hearing: answer).run(
            "send", Clip.digits.path, "--type")
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.output.isEmpty)
        #expect(desk.text(of: "wtype") == "--help  rm -rf . evil")
        #expect(desk.arguments(of: "wtype") == ["-"])
    }

    @Test func aTextThatNoProgramTakesIsPrinted() async throws {
        try desk.add("wl-copy", then: "printf 'no \\033[31mcompositor\\n' >&2; exit 3")
        let result = try await bench(on: desk.wayland).run("send", Clip.digits.path, "--copy")
        #expect(result.status == .exited(74))
        #expect(result.outputText == "go forward\n")
        #expect(
            result.errorText.contains(
                "utter: error: --copy: wl-copy ended with status 3: no compositor\n"))
        #expect(result.errorText.contains("utter: hint: once that works, have the text again"))
        #expect(result.hasPlainErrors)
    }

    @Test func aTextThatWasPastedIsPrintedToo() async throws {
        try desk.addClipboard("xclip", reader: "xclip", holding: "before", pasting: "xdotool")
        let result = try await bench(on: desk.x11, hearing: "Größe").run(
            "send", Clip.digits.path, "--type")
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(desk.pasted == "Größe")
        #expect(result.outputText == "Größe\n")
        let warning = "warning: xdotool cannot type this text: it was pasted with Ctrl+V"
        #expect(result.errorText.contains(warning))
    }

    @Test func theTextIsNowhereElseAndNoSecretIsInTheEnvironment() async throws {
        try desk.add("wl-copy")
        let secrets = ["UTTER_TOKEN": "s3cret-1", "DEEPGRAM_API_KEY": "s3cret-2"]
        let result = try await bench(on: desk.wayland.merging(secrets) { one, _ in one }).run(
            "send", Clip.digits.path, "--copy")
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.output.isEmpty)
        #expect(desk.text(of: "wl-copy") == "go forward")
        #expect(!desk.environment(of: "wl-copy").contains("s3cret"))
        #expect(desk.environment(of: "wl-copy").contains("WAYLAND_DISPLAY=wayland-1"))
    }
}
