// SPDX-License-Identifier: Apache-2.0

/// A folder of programs that stand for those of a desktop, and what they were given.
///
/// It is the whole `PATH`, but for the shell's own folders where a test asks for them.
package struct Desk {
    private let folder: TemporaryFolder

    package init() throws { folder = try TemporaryFolder() }

    /// Adds a program that notes its arguments, its environment and what it reads, and goes on with
    /// `script`.
    package func add(_ name: String, then script: String = "") throws {
        let text = """
            #!/bin/sh
            printf '%s\\n' "$@" >'\(folder.path)/\(name).arguments'
            /usr/bin/env >'\(folder.path)/\(name).environment'
            /bin/cat >'\(folder.path)/\(name).text'
            \(script)
            """
        try folder.writeProgram(text, to: name)
    }

    /// Adds a program for the clipboard, which holds a text, and one that pastes it by a key; `copying`
    /// is what another program copies then.
    package func addClipboard(
        _ name: String, reader: String, holding text: String?, pasting other: String,
        copying: String? = nil
    ) throws {
        let (board, given) = (folder.path("clipboard"), folder.path("\(name).text"))
        if let text { try folder.write(Array(text.utf8), to: "clipboard") }
        let put = "/bin/cat '\(given)' >'\(board)'"
        let get = "case \"$*\" in *-out*) /bin/cat '\(board)'; exit;; esac"
        try add(name, then: name == reader ? "\(get)\n\(put)" : put)
        if name != reader { try add(reader, then: "/bin/cat '\(board)'") }
        let copy = copying.map { "printf '%s' '\($0)' >'\(board)'" } ?? ""
        try add(other, then: "/bin/cp '\(board)' '\(folder.path("pasted"))'\n\(copy)")
    }

    package var clipboard: String? { file("clipboard") }
    /// What was pasted; nil when nothing was.
    package var pasted: String? { file("pasted") }

    /// What a program has read; nil when it was not run.
    package func text(of name: String) -> String? { file("\(name).text") }

    package func arguments(of name: String) -> [String] {
        (file("\(name).arguments") ?? "").split(separator: "\n").map(String.init)
    }

    package func environment(of name: String) -> String { file("\(name).environment") ?? "" }

    private func file(_ name: String) -> String? {
        // A program that was not run has written none.
        (try? folder.read(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    package var wayland: [String: String] { ["PATH": folder.path, "WAYLAND_DISPLAY": "wayland-1"] }

    package var x11: [String: String] { ["PATH": folder.path, "DISPLAY": ":7"] }

    package var console: [String: String] { ["PATH": folder.path] }
}
