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

    private static let server = "/usr/sbin/sshd"

    private let folder: TemporaryFolder

    /// Makes keys, and the configuration of a server that lets them in.
    init() throws {
        folder = try TemporaryFolder()
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
    }

    var socket: String { folder.path("desk") }

    /// What `ssh` is told to run a line of shell there.
    ///
    /// - Parameters:
    ///   - script: the line.
    ///   - target: what the socket of the other machine leads to here.
    /// - Returns: all that follows its name.
    func arguments(_ script: String, leadingTo target: String? = nil) -> [String] {
        let options = [
            "ProxyCommand=\(Self.server) -i -f \(folder.path("sshd_config"))",
            "IdentityFile=\(folder.path("key"))", "IdentitiesOnly=yes", "BatchMode=yes",
            "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR",
            "ExitOnForwardFailure=yes",
        ]
        var arguments = ["-F", "none"]
        for option in options { arguments += ["-o", option] }
        if let target { arguments += ["-R", "\(socket):\(target)"] }
        return arguments + ["elsewhere", script]
    }
}
