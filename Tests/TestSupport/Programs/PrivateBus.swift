// SPDX-License-Identifier: Apache-2.0

/// A bus of D-Bus for one test, with no other program on it.
package final class PrivateBus: Sendable {
    private let run: CommandRun
    private let folder: TemporaryFolder
    package let address: String

    /// Starts it.
    package init() async throws {
        folder = try TemporaryFolder()
        address = "unix:path=\(folder.path("bus"))"
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>\(address)</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """
        let file = try folder.write(Array(configuration.utf8), to: "bus.conf")
        run = try CommandRun(
            "dbus-daemon", ["--config-file=\(file)", "--nofork", "--print-address"])
        guard await run.wait(for: "unix:", in: .output) else {
            throw ForeignTool.Failure(
                description: "no bus: \(String(decoding: run.error, as: UTF8.self))")
        }
    }

    package func end() async throws {
        run.signal(15)
        _ = try await run.result()
    }
}
