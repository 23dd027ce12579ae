// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Testing

/// A web server of other hands that serves the files of a folder; Apache takes files, too (WebDAV).
package final class StaticServer: Sendable {
    package enum Kind: String, CaseIterable, Sendable { case nginx, apache }

    package let port: UInt16
    private let folder: TemporaryFolder
    private let run: CommandRun
    private let reservation: ReservedPort

    /// Starts one in the foreground.
    package init(_ kind: Kind, of root: TemporaryFolder) async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        reservation = try ReservedPort()
        port = reservation.port
        // Their workers may be another user's.
        try ForeignTool("chmod").run(["-R", "a+rwX", root.path, folder.path])
        let text: String
        switch kind {
        case .nginx:
            text = TLSFront.configuration(
                in: folder, "listen 127.0.0.1:\(port); root \(root.path);")
        case .apache:
            // `scripts/servers.sh` unpacks them beside the folder that the program is in.
            let unpacked = ForeignTool("apache2").path.map {
                "\($0.dropLast("/apache2".count))/../usr/lib/apache2/modules"
            }
            let installed = "/usr/lib/apache2/modules"
            let place = unpacked.flatMap { access($0, R_OK) == 0 ? $0 : nil } ?? installed
            let modules = ["mpm_event", "authz_core", "dav", "dav_fs"].map {
                "LoadModule \($0)_module \(place)/mod_\($0).so"
            }
            text = """
                \(modules.joined(separator: "\n"))
                Listen 127.0.0.1:\(port)
                ServerName 127.0.0.1
                PidFile \(folder.path("pid"))
                ErrorLog \(folder.path("errors"))
                DefaultRuntimeDir \(folder.path)
                DocumentRoot \(root.path)
                DavLockDB \(folder.path("locks"))
                <Directory "\(root.path)">
                Require all granted
                Dav On
                </Directory>
                """
        }
        let path = try folder.write(Array((text + "\n").utf8), to: "conf")
        run =
            switch kind {
            case .nginx: try CommandRun("nginx", ["-c", path, "-e", "stderr"])
            case .apache: try CommandRun("apache2", ["-X", "-f", path])
            }
        try #require(
            await reservation.waitUntilOpen(), "\(String(decoding: run.error, as: UTF8.self))")
    }

    // Before its folder goes: the tests may end while that is removed.
    deinit { run.signal(SIGKILL) }
}
