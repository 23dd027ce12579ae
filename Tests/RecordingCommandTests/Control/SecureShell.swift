// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// The real `ssh` and `sshd`, joined by a pipe: no port is opened, and nothing of the system's
/// configuration counts.
struct SecureShell: Sendable {
    /// Whether a session comes about here.
    static let works: Bool = {
        do {
            let shell = try SecureShell()
            return try ForeignTool("ssh").run(shell.arguments("true")).status == 0
        } catch {
            return false
        }
    }()

    /// Keys, and the configuration of a server that lets them in.
    private static let server = Result {
        let folder = try TemporaryFolder.forProcess()
        for name in ["host", "key"] {
            try ForeignTool("ssh-keygen").run(
                ["-q", "-t", "ed25519", "-N", "", "-f", folder.path(name)])
        }
        let configuration = """
            HostKey \(folder.path("host"))
            AuthorizedKeysFile \(folder.path("key.pub"))
            StrictModes no
            UsePAM no
            PermitRootLogin yes
            StreamLocalBindUnlink yes

            """
        try folder.write(Array(configuration.utf8), to: "sshd_config")
        return folder
    }

    private let server: TemporaryFolder
    private let folder: TemporaryFolder

    init() throws { (server, folder) = (try Self.server.get(), try TemporaryFolder()) }

    var socket: String { folder.path("desk") }

    /// What `ssh` is told to run a line of shell there.
    ///
    /// - Parameters:
    ///   - script: the line.
    ///   - target: what the socket of the other machine leads to here.
    /// - Returns: all that follows its name.
    func arguments(_ script: String, leadingTo target: String? = nil) -> [String] {
        let options = [
            "ProxyCommand=/usr/sbin/sshd -i -f \(server.path("sshd_config"))",
            "IdentityFile=\(server.path("key"))", "IdentitiesOnly=yes", "BatchMode=yes",
            "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR",
            "ExitOnForwardFailure=yes",
        ]
        var arguments = ["-F", "none"]
        for option in options { arguments += ["-o", option] }
        if let target { arguments += ["-R", "\(socket):\(target)"] }
        return arguments + ["elsewhere", script]
    }
}
