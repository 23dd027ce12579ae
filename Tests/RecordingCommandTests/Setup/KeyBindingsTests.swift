// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import UtterCommands

/// `utter setup binds`: what it prints does what it says.
@Suite struct KeyBindingsTests {
    /// What a desktop's lines have a shell run, in their order; `remarks`: those of remarks instead.
    private func commands(
        _ desktop: Desktop, of utter: String = "utter", inRemarks: Bool = false
    ) -> [String] {
        desktop.bindings(of: utter).split(separator: "\n")
            .filter { $0.hasPrefix("#") == inRemarks }
            .compactMap { line in
                let place = line.ranges(of: utter + " ").last?.lowerBound
                return place.map { String(line[$0...].split { "'\"".contains($0) }[0]) }
            }
    }

    @Test(arguments: Desktop.allCases)
    func whatAKeyRunsIsACommandThatPutsTheTextSomewhere(_ desktop: Desktop) throws {
        let all = commands(desktop)
        #expect(!all.isEmpty)
        for command in all {
            let words = command.words
            #expect(["start", "stop", "toggle", "cancel", "pause"].contains(words[0]))
            let ends = ["stop", "toggle"].contains(words[0])
            #expect(ends == ["--type", "--copy"].contains(words.last), "\(command)")
        }
    }

    @Test func theProgramIsNamedByItsPathWhereADesktopDoesNotLookForIt() async throws {
        #expect(Desktop.word(forProgramIn: "/usr/bin") == "utter")
        #expect(Desktop.word(forProgramIn: "/usr/local/bin") == "utter")
        let word = Desktop.word(forProgramIn: "/home/a b/.local/bin")
        #expect(word == "'/home/a b/.local/bin/utter'")
        #expect(
            Desktop.sway.bindings(of: word)
                .contains("\nbindsym F9+Escape exec '/home/a b/.local/bin/utter' cancel\n"))
        let program = try #require(BuiltProducts.path(of: "utter"))
        let printed = try await Bench().run("setup", "binds", "sway").outputText
        #expect(printed.contains("\nbindsym --no-repeat F9 exec "))
        // The path of a build that is reached by a link is its true one.
        #expect(printed.contains("/\(program.split(separator: "/").last ?? "") start\n"))
        #expect(!printed.contains(" exec utter "))
    }

    /// Hyprland runs what Sway does.
    @Test func whatIsSaidWhileAKeyIsHeldIsTyped() async throws {
        let bench = try ControlBench(.hearing("go forward"))
        let desk = try Desk()
        try desk.add("wtype")
        let keys = commands(.sway)
        #expect(commands(.hyprland).prefix(2) == keys.prefix(2))
        let press = try bench.bench.start(keys[0].words)
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        let release = try await bench.bench.start(keys[1].words, variables: desk.wayland).result()
        #expect(release.status == .exited(0), "\(release.errorText)")
        #expect(release.output.isEmpty)
        #expect(try await press.result().status == .exited(0))
        #expect(desk.text(of: "wtype") == "go forward")
    }

    /// Plasma runs what GNOME does.
    @Test(arguments: [(Desktop.sway, true), (.i3, false), (.gnome, false)])
    func whatIsSaidBetweenTwoPressesIsTypedOrCopied(
        _ desktop: Desktop, _ inRemarks: Bool
    ) async throws {
        let bench = try ControlBench(.hearing("go forward"))
        let desk = try Desk()
        let names = ["wtype", "xdotool", "wl-copy"]
        for name in names { try desk.add(name) }
        let key = try #require(
            commands(desktop, inRemarks: inRemarks).first { $0.contains(" toggle") }
        ).words
        if desktop == .gnome { #expect(commands(.kde)[0].words == key) }
        let session = desktop == .i3 ? desk.x11 : desk.wayland
        let first = try bench.bench.start(key, variables: session)
        _ = try #require(await bench.server.wait(untilBytes: 6_400))
        let second = try await bench.bench.start(key, variables: session).result()
        #expect(second.status == .exited(0), "\(second.errorText)")
        // The press that begins has no text, and harms neither window nor clipboard.
        #expect(try await first.result().output.isEmpty)
        #expect(second.output.isEmpty)
        #expect(names.compactMap { desk.text(of: $0) } == ["go forward"])
    }

    @Test(.enabled(if: isThere("/usr/bin/i3"), "i3 is not installed"))
    func i3ReadsItsLines() throws {
        let folder = try TemporaryFolder()
        let lines = "# i3 config file (v4)\n" + Desktop.i3.bindings(of: spaced)
        let path = try folder.write(Array(lines.utf8), to: "config")
        let result = try ForeignTool("i3").run(["-C", "-c", path])
        #expect(!result.complaint.contains("ERROR"), "\(result.complaint)")
    }

    @Test(.enabled(if: isThere(mediaKeys), "the media keys of GNOME are not installed"))
    func gnomeRemembersItsLines() throws {
        let folder = try TemporaryFolder()
        let script = """
            export GSETTINGS_BACKEND=keyfile XDG_CONFIG_HOME='\(folder.path)'
            set -e
            \(Desktop.gnome.bindings(of: spaced))
            gsettings get $schema.custom-keybinding:$place command
            gsettings get $schema custom-keybindings
            """
        let printed = try ForeignTool("sh").run(["-c", script]).text.split(separator: "\n")
        #expect(printed.first == #""'/a b/utter' toggle --copy""#)
        #expect(printed.last?.hasSuffix("/custom-keybindings/utter/']") == true)
    }

    /// `gsettings` keeps the list in a file, and takes the rest.
    @Test(arguments: [
        ("@as []", "['PLACE']"), ("['/a/', '/b/']", "['/a/', '/b/', 'PLACE']"),
        ("['PLACE', '/b/']", "['PLACE', '/b/']"),
    ])
    func gnomeKeepsTheShortcutsThatAreThere(_ before: String, _ after: String) throws {
        let folder = try TemporaryFolder()
        let place = "/org/gnome/settings-daemon/plugins/media-keys/custom-keybindings/utter/"
        try folder.writeProgram(
            """
            #!/bin/sh
            [ "$3" = custom-keybindings ] || exit 0
            if [ "$1" = get ]; then cat '\(folder.path)/list'; else echo "$4" >'\(folder.path)/list'; fi

            """, to: "gsettings")
        try folder.write(Array((before.replacing("PLACE", with: place) + "\n").utf8), to: "list")
        let pasted = Desktop.gnome.bindings(of: "utter")
        // A shell that knows no remarks in what is typed has nothing to open, to write or to run there.
        let remarks = pasted.split(separator: "\n").filter { $0.hasPrefix("#") }.joined()
        #expect(!remarks.contains { "'\"`;&|<>()$*?![]".contains($0) }, "\(remarks)")
        for _ in 0..<2 {
            try ForeignTool("sh").run(["-c", "PATH='\(folder.path)':$PATH\n\(pasted)"])
            let list = String(decoding: try folder.read("list"), as: UTF8.self)
            #expect(list == after.replacing("PLACE", with: place) + "\n")
        }
    }

    /// A program whose name needs quotes.
    private let spaced = "'/a b/utter'"

    private static let mediaKeys =
        "/usr/share/glib-2.0/schemas/org.gnome.settings-daemon.plugins.media-keys.gschema.xml"

    private static func isThere(_ path: String) -> Bool { access(path, R_OK) == 0 }
}

extension String {
    /// The words after that of the program.
    fileprivate var words: [String] { split(separator: " ").dropFirst().map(String.init) }
}
