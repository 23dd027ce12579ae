// SPDX-License-Identifier: Apache-2.0

/// A plug-in of the C library's name service, for one program: by it a name is this machine.
package struct NameService: Sendable {
    /// Whether programs may mount something for themselves here, which replacing
    /// `/etc/nsswitch.conf` takes.
    package static let isAvailable: Bool = {
        // Where the program is missing it is not possible either.
        (try? ForeignTool("unshare").run(["-Urm", "mount", "-t", "tmpfs", "none", "/mnt"])) != nil
    }()

    private let folder: TemporaryFolder
    private let host: String

    /// Compiles the plug-in, which knows `host` alone.
    package init(knowing host: String) async throws {
        folder = try TemporaryFolder()
        self.host = host
        try folder.write(Array("hosts: utter\n".utf8), to: "nsswitch.conf")
        try ForeignTool.compile(
            "NameService/nss_utter.c", into: folder.path("libnss_utter.so.2"), "-shared", "-fPIC")
    }

    /// Runs a program that looks names up by it and in no other way.
    package func run(
        _ program: String, _ arguments: [String], environment: [String: String]
    ) async throws -> CommandResult {
        var environment = environment
        environment["LD_LIBRARY_PATH"] = folder.path
        environment["UTTER_TEST_HOST"] = host
        let script = #"mount --bind "$0" /etc/nsswitch.conf && exec "$@""#
        return try await CommandRun.run(
            "unshare",
            ["-Urm", "sh", "-c", script, folder.path("nsswitch.conf"), program] + arguments,
            environment: environment)
    }
}
