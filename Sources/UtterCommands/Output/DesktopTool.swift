// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A program that brings a text to the desktop: to its clipboard, or to the field that has the
/// cursor.
///
/// Each reads the text on standard input, so that no text is ever taken for an option, or seen in
/// the list of processes. A text that a program cannot type is pasted: programs for the keyboard
/// drop letters that the layout lacks, and end with status 0.
struct DesktopTool {
    enum Purpose: String {
        case copying = "--copy"
        case typing = "--type"
    }

    enum Session: String {
        case wayland = "WAYLAND_DISPLAY"
        case x11 = "DISPLAY"
    }

    /// The program's name, which is that of its Debian package unless `package` is another.
    let name: String
    let arguments: [String]
    /// The session that the program works in; nil when it needs no desktop.
    let session: Session?
    var package: String?
    /// How many different characters that are not ASCII it types without losing any.
    var foreignLimit = 0
    /// The arguments with which it presses the keys that paste; none of one that does not know keys.
    var paste: [String] = []
    /// The program that prints the clipboard's text, and its arguments.
    var reader: [String] = []

    /// In the order in which they are tried.
    ///
    /// In a Wayland session a program for X11 would type into windows of X11 alone, and say nothing
    /// of it; a clipboard is shared.
    private static let tools: [Purpose: [DesktopTool]] = [
        .copying: [
            DesktopTool(
                name: "wl-copy", arguments: ["--type", "text/plain"], session: .wayland,
                package: "wl-clipboard",
                reader: ["wl-paste", "--no-newline", "--type", "text"]),
            DesktopTool(
                name: "xclip", arguments: ["-selection", "clipboard", "-in"], session: .x11,
                reader: ["xclip", "-selection", "clipboard", "-out", "-target", "UTF8_STRING"]),
            DesktopTool(
                name: "xsel", arguments: ["--clipboard", "--input"], session: .x11,
                reader: ["xsel", "--clipboard", "--output"]),
        ],
        .typing: [
            // Its keyboard has no more room for keys that the layout lacks.
            DesktopTool(
                name: "wtype", arguments: ["-"], session: .wayland, foreignLimit: 25,
                paste: ["-M", "ctrl", "-k", "v", "-m", "ctrl"]),
            DesktopTool(
                name: "xdotool", arguments: ["type", "--clearmodifiers", "--file", "-"],
                session: .x11, paste: ["key", "--clearmodifiers", "ctrl+v"]),
            DesktopTool(name: "ydotool", arguments: ["type", "--file", "-"], session: nil),
        ],
    ]

    /// How long a program may take, and how much longer for each character that it types.
    private static let limit = Duration.seconds(10)
    private static let limitPerCharacter = Duration.milliseconds(50)
    /// How long a window may take to read the clipboard once it was told to paste: chosen.
    private static let pasteTime: UInt32 = 500_000
    /// In bytes; a longer text of the clipboard is not put back.
    private static let clipboardLimit = 1 << 20

    /// The programs that are there and fit the session, the best first; at least one.
    static func found(for purpose: Purpose) throws(CommandFailure) -> [(DesktopTool, String)] {
        let isWayland = has(.wayland)
        let fitting = (tools[purpose] ?? []).filter { tool in
            guard let session = tool.session else { return true }
            return has(session) && !(purpose == .typing && session == .x11 && isWayland)
        }
        let found = fitting.compactMap { tool in path(of: tool.name).map { (tool, $0) } }
        guard found.isEmpty else { return found }
        guard has(.wayland) || has(.x11) else {
            throw CommandFailure(
                "\(purpose.rawValue): there is no desktop: neither WAYLAND_DISPLAY nor DISPLAY is set",
                hint: "run utter in a terminal of the desktop, or print the text",
                status: .configuration)
        }
        let names = fitting.map(\.name)
        throw CommandFailure(
            "\(purpose.rawValue): \(names.joined(separator: " and ")) "
                + (names.count == 1 ? "is not installed" : "are not installed"),
            hint: "install one: sudo apt install \(fitting[0].package ?? fitting[0].name)",
            status: .configuration)
    }

    /// Has the first program that can take the text.
    ///
    /// - Returns: why it is not known whether the text has arrived; nil when it has, as far as can be said.
    static func give(_ text: String, to purpose: Purpose) throws(CommandFailure) -> String? {
        var failure: CommandFailure?
        for (tool, path) in try found(for: purpose) {
            do throws(CommandFailure) {
                return try tool.give(text, path, for: purpose)
            } catch {
                // The first tool fits the desktop best, so its failure is told.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return nil
    }

    private func give(
        _ text: String, _ path: String, for purpose: Purpose
    ) throws(CommandFailure) -> String? {
        let foreign = Set(text.unicodeScalars.filter { !$0.isASCII })
        guard purpose == .copying || foreign.count <= foreignLimit else {
            guard !paste.isEmpty else { throw failure("can type ASCII only", purpose) }
            return try paste(text, path)
        }
        try run(path, [name] + arguments, text, purpose)
        return nil
    }

    /// Puts the text on the clipboard, pastes it, and puts back what was there, if that is text and
    /// no other program has copied anything meanwhile.
    private func paste(_ text: String, _ path: String) throws(CommandFailure) -> String {
        let (clipboard, place) = try Self.found(for: .copying)[0]
        let old = clipboard.clipboardText
        try clipboard.run(place, [clipboard.name] + clipboard.arguments, text, .typing)
        try run(path, [name] + paste, "", .typing)
        usleep(Self.pasteTime)
        let pasted = "\(name) cannot type this text: it was pasted with Ctrl+V"
        guard let old, clipboard.clipboardText == text,
            // A clipboard that cannot be put back keeps the text, which is told.
            (try? clipboard.run(place, [clipboard.name] + clipboard.arguments, old, .typing)) != nil
        else { return pasted + "; the clipboard is left as it is" }
        return pasted
    }

    /// The text that the clipboard holds; nil when it holds another thing, nothing, or too much.
    private var clipboardText: String? {
        guard let path = reader.first.flatMap({ Self.path(of: $0) }),
            // Unreadable text is not put back.
            let bytes = try? run(path, reader, "", .copying), !bytes.isEmpty,
            bytes.count <= Self.clipboardLimit
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Runs a program that reads the text; returns what it prints, up to a byte too much.
    @discardableResult
    private func run(
        _ path: String, _ words: [String], _ text: String, _ purpose: Purpose
    ) throws(CommandFailure) -> [UInt8] {
        let limit = Self.limit + Self.limitPerCharacter * text.unicodeScalars.count
        let (status, complaint, printed): (Int32?, String, [UInt8])
        do throws(SystemError) {
            let input = try makeMemoryFile(Array(text.utf8))
            // Not a pipe: what stays in the background to serve the clipboard keeps it open.
            let output = try makeMemoryFile()
            let errors = try makeMemoryFile()
            var process = try ChildProcess(
                path, words, environment: ScrubbedEnvironment.entries(), input: .given(input),
                output: .given(output.duplicate()), error: .given(errors.duplicate()))
            status = try process.status(by: .now + limit)
            printed = output.bytes(limit: Self.clipboardLimit + 1)
            complaint = TerminalText.excerpt(
                of: errors.bytes(limit: TerminalText.excerptByteLimit + 1))
        } catch {
            throw failure("cannot be run: \(error.reason)", purpose)
        }
        guard let status else { throw failure("did not end in time", purpose) }
        guard status == 0 else {
            let end = ChildProcess.end(by: status)
            throw failure(complaint.isEmpty ? end : "\(end): \(complaint)", purpose)
        }
        return printed
    }

    private func failure(_ reason: String, _ purpose: Purpose) -> CommandFailure {
        CommandFailure(
            "\(purpose.rawValue): \(name) \(reason)",
            hint: "once that works, have the text again with: utter last \(purpose.rawValue)",
            status: .localIO)
    }

    private static func has(_ session: Session) -> Bool {
        Environment[filled: session.rawValue] != nil
    }

    /// Where a program is, by the variable `PATH`; a relative folder there is not looked into.
    static func path(of name: String) -> String? {
        (Environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
            .filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
            .first { unsafe access($0, X_OK) == 0 }
    }
}
