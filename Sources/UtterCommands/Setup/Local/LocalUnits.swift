// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import UtterSettings
internal import UtterTerminal

private let mark = "# Written by utter setup local"
private let removal = "\(mark); 'utter setup local remove' removes it."

/// Whether a file is there that we have not written.
private func isOfAnother(_ name: String, in folder: String) -> Bool {
    // Where there is none, there is none of another.
    let bytes = try? Folder.open(at: folder).contents(of: name, limit: 1 << 20)
    return bytes.map { !String(decoding: $0, as: UTF8.self).contains(mark) } ?? false
}

/// The entry by which a desktop starts the endpoint with each session, where no systemd does.
enum LocalAutostart {
    private static let folder =
        Environment.folder("XDG_CONFIG_HOME", orBelowHome: "/.config", of: "autostart")
    private static let name = "utter-local.desktop"

    /// As the Desktop Entry Specification has it, "The Exec key".
    static func text(_ command: String) -> String {
        let words = [Launch.programFolder + "/utter", "serve", "-q", "--recogniser", command]
        let quoted = words.map { word in
            let inner = word.reduce(into: "") { $0 += "\"`$\\".contains($1) ? "\\\($1)" : "\($1)" }
            // The backslashes are those of a string, too; a percent sign would begin a field.
            return "\"\(inner.replacing("\\", with: "\\\\").replacing("%", with: "%%"))\""
        }
        return """
            \(removal)
            [Desktop Entry]
            Type=Application
            Name=utter serve
            Comment=Recognises speech on this machine
            Exec=\(quoted.joined(separator: " "))
            NoDisplay=true

            """
    }

    static func enable(_ command: String) throws(CommandFailure) {
        guard !isOfAnother(name, in: folder) else { return }
        try orFailure {
            try Folder.make(at: folder).replaceFile(name, with: Array(text(command).utf8))
        }
    }

    /// Whether there was one of ours.
    @discardableResult
    static func remove() -> Bool {
        guard !isOfAnother(name, in: folder) else { return false }
        // Where there is none, there is nothing to do.
        return (try? Folder.open(at: folder).removeFile(name)) != nil
    }
}

/// The units of the person's systemd that start the endpoint when something connects to it.
///
/// systemd listens, and its proxy hands over what comes; once nothing has come for a time, the proxy
/// ends, and with it the endpoint (systemd-socket-proxyd(8)).
enum LocalUnits {
    private static let folder =
        Environment.folder("XDG_CONFIG_HOME", orBelowHome: "/.config", of: "systemd/user")
    private static let name = "utter-local"
    private static var socket: String { name + ".socket" }
    private static var names: [String] {
        [socket, name + ".service", name + "-endpoint.service"]
    }
    private static let proxy = "/lib/systemd/systemd-socket-proxyd"

    static func texts(_ command: String) -> [String: String] {
        // A percent sign and a dollar have a meaning there (systemd.service(5)).
        let words = [
            Launch.programFolder + "/utter", "serve", "--port", "8518", "--recogniser", command,
        ].map { word in
            let text = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                .replacing("%", with: "%%").replacing("$", with: "$$")
            return "\"\(text)\""
        }
        let head = """
            # SPDX-License-Identifier: Apache-2.0
            \(removal)
            [Unit]
            Description=Recognises speech on this machine
            Documentation=man:utter-setup-local(1)

            """
        return [
            names[0]: head + """

                [Socket]
                ListenStream=127.0.0.1:8517

                [Install]
                WantedBy=sockets.target

                """,
            names[1]: head + """
                Requires=\(names[2])
                After=\(names[2])

                [Service]
                ExecStart=\(proxy) --exit-idle-time=15min 127.0.0.1:8518

                """,
            names[2]: head + """
                StopWhenUnneeded=yes

                [Service]
                Type=notify
                ExecStart=\(words.joined(separator: " "))
                # A signal that ends it is no failure.
                SuccessExitStatus=130 143
                NoNewPrivileges=yes
                UMask=0077

                """,
        ]
    }

    /// Writes them, and has systemd listen.
    ///
    /// - Throws: `CommandFailure` where systemd does not take them; they are removed again then.
    static func enable(_ command: String) throws(CommandFailure) {
        if let other = names.first(where: { isOfAnother($0, in: folder) }) {
            throw CommandFailure(
                "\(folder)/\(other) was not written by utter setup local", status: .configuration)
        }
        try orFailure {
            let place = try Folder.make(at: folder)
            for (name, text) in texts(command) {
                try place.replaceFile(name, with: Array(text.utf8))
            }
        }
        let isPossible = unsafe access(proxy, X_OK) == 0
        guard isPossible, control(["daemon-reload"]), control(["restart", socket]),
            control(["enable", socket])
        else {
            remove()
            throw CommandFailure("systemd does not start it here", status: .configuration)
        }
    }

    /// Stops the endpoint, and removes what `enable` has written; whether there was anything.
    @discardableResult
    static func remove() -> Bool {
        // Where there are none, there is nothing to do; here and below.
        guard let place = try? Folder.open(at: folder), place.size(of: socket) != nil,
            !isOfAnother(socket, in: folder)
        else { return false }
        _ = control(["disable", "--now"] + names)
        // A missing file needs no removal.
        for name in names where !isOfAnother(name, in: folder) { try? place.removeFile(name) }
        _ = control(["daemon-reload"])
        return true
    }

    /// Whether systemd is to listen for it.
    static var areThere: Bool { unsafe access("\(folder)/\(socket)", F_OK) == 0 }

    private static func control(_ words: [String]) -> Bool {
        guard let path = DesktopTool.path(of: "systemctl") else { return false }
        // A program that does not start has failed.
        return (try? LocalStep().run(path, ["--user"] + words).status) == 0
    }
}
