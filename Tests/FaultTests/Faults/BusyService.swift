// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

@testable import LinuxPlatform

/// A service that takes recordings and then has no time for them, and tells a line of shell how far
/// it is: `read line < PIPE` ends when the next of some lengths has come.
final class BusyService: Sendable {
    let url: String
    let pipePath: String
    private let server: RecordingServer

    /// Begins to serve; the pipe is in `folder`.
    init(in folder: TemporaryFolder, tellsAt byteCounts: [Int]) throws {
        pipePath = folder.path("moment")
        guard mkfifo(pipePath, 0o600) == 0 else { throw SystemError.last("mkfifo") }
        // Open for reading, too, so that no line is lost before the shell reads it.
        let pipe = try OwnedDescriptor(of: "open") { [pipePath] in
            open(pipePath, O_RDWR | O_CLOEXEC)
        }
        let tell = ServerStep.perform { _ in _ = write(pipe.number, "\n", 1) }
        server = try RecordingServer(
            otherwise: [.readHead] + byteCounts.flatMap { [.readBody(bytes: $0), tell] }
                + [.readBodyToEnd, .respond(status: 503, text: "")])
        url = server.url()
    }
}
