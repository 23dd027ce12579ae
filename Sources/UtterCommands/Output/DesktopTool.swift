// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A program that brings a text to the desktop: to its clipboard, or to the field that has the
/// cursor.
///
/// Each reads the text on standard input, so that no text is ever taken for an option, or seen in
/// the list of processes.
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
    /// Nil for one that works without a desktop.
    let session: Session?
    var package: String?
    var isASCIIOnly = false

    /// In the order in which they are tried.
    ///
    /// In a Wayland session a program for X11 would type into windows of X11 alone, and say nothing
    /// of it; a clipboard is shared.
    private static let tools: [Purpose: [DesktopTool]] = [
        .copying: [
            DesktopTool(
                name: "wl-copy", arguments: ["--type", "text/plain"], session: .wayland,
                package: "wl-clipboard"),
            DesktopTool(
                name: "xclip", arguments: ["-selection", "clipboard", "-in"], session: .x11),
            DesktopTool(name: "xsel", arguments: ["--clipboard", "--input"], session: .x11),
        ],
        .typing: [
            DesktopTool(name: "wtype", arguments: ["-"], session: .wayland),
            DesktopTool(
                name: "xdotool", arguments: ["type", "--clearmodifiers", "--file", "-"],
                session: .x11),
            DesktopTool(
                name: "ydotool", arguments: ["type", "--file", "-"], session: nil,
                isASCIIOnly: true),
        ],
    ]

    /// How long a program may take, and how much longer for each character that it types.
    private static let limit = Duration.seconds(10)
    private static let limitPerCharacter = Duration.milliseconds(50)

    /// The programs that are there and fit the session, the best first; at least one.
    static func found(for purpose: Purpose) throws(CommandFailure) -> [(DesktopTool, String)] {
        let isWayland = has(.wayland)
        let fitting = (tools[purpose] ?? []).filter { tool in
            guard let session = tool.session else { return true }
            return has(session) && !(purpose == .typing && session == .x11 && isWayland)
        }
        let found = fitting.compactMap { tool in path(of: tool.name).map { (tool, $0) } }
        guard !found.isEmpty || has(.wayland) || has(.x11) else {
            throw CommandFailure(
                "\(purpose.rawValue): there is no desktop: neither WAYLAND_DISPLAY nor DISPLAY is set",
                hint: "run utter in a terminal of the desktop, or print the text",
                status: .configuration)
        }
        guard !found.isEmpty else {
            let names = fitting.map(\.name)
            throw CommandFailure(
                "\(purpose.rawValue): \(names.joined(separator: " and ")) "
                    + (names.count == 1 ? "is not installed" : "are not installed"),
                hint: "install one: sudo apt install \(fitting[0].package ?? fitting[0].name)",
                status: .configuration)
        }
        return found
    }

    /// Has the first program that can take the text.
    static func give(_ text: String, to purpose: Purpose) throws(CommandFailure) {
        var failure: CommandFailure?
        for (tool, path) in try found(for: purpose) {
            do throws(CommandFailure) {
                return try tool.give(text, path, for: purpose)
            } catch {
                // Of several, the first is the one that fits the desktop best.
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private func give(
        _ text: String, _ path: String, for purpose: Purpose
    ) throws(CommandFailure) {
        guard !isASCIIOnly || text.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw failure("can type ASCII only", purpose)
        }
        let limit = Self.limit + Self.limitPerCharacter * text.unicodeScalars.count
        let status: Int32?
        let complaint: String
        do throws(SystemError) {
            let input = try makeMemoryFile(Array(text.utf8))
            // Not a pipe: what stays in the background to serve the clipboard keeps it open.
            let errors = try makeMemoryFile()
            var process = try ChildProcess(
                path, [name] + arguments, environment: ScrubbedEnvironment.entries(),
                input: .given(input), error: .given(errors.duplicate()))
            status = try process.status(by: .now + limit)
            complaint = Self.words(in: errors.number)
        } catch {
            throw failure("cannot be run: \(error.reason)", purpose)
        }
        guard let status else { throw failure("did not end in time", purpose) }
        guard status == 0 else {
            let end = ChildProcess.end(by: status)
            throw failure(complaint.isEmpty ? end : "\(end): \(complaint)", purpose)
        }
    }

    private func failure(_ reason: String, _ purpose: Purpose) -> CommandFailure {
        CommandFailure(
            "\(purpose.rawValue): \(name) \(reason)",
            hint: "once that works, have the text again with: utter last \(purpose.rawValue)",
            status: .localIO)
    }

    /// The beginning of what a program has complained of.
    private static func words(in descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: TerminalText.excerptByteLimit + 1)
        let count = unsafe pread(descriptor, &buffer, buffer.count, 0)
        return TerminalText.excerpt(of: buffer.prefix(max(0, count)))
    }

    private static func has(_ session: Session) -> Bool {
        !(Environment[session.rawValue] ?? "").isEmpty
    }

    /// Where a program is, by the variable `PATH`; a relative folder there is not looked into.
    static func path(of name: String) -> String? {
        (Environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
            .filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
            .first { unsafe access($0, X_OK) == 0 }
    }
}
