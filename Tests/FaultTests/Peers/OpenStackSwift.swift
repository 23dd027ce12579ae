// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// OpenStack Swift of Debian's `python3-swift`, in one process with its own rings and disk.
enum OpenStackSwift {
    /// That of Debian, which has the package.
    private static let python = "/usr/bin/python3"

    /// Why it cannot run here; nil when it can.
    static let obstacle: String? = {
        do {
            let folder = try TemporaryFolder()
            try ForeignTool(python).run([
                "-c", "import os, sys; os.setxattr(sys.argv[1], 'user.utter', b'1')", folder.path,
            ])
        } catch {
            return "OpenStack Swift writes extended attributes, which files here do not have"
        }
        return nil
    }()

    /// Whether tests may not leave it out; the obstacle is a failure then.
    static let mustRun = getenv("UTTER_STRICT").map { String(cString: $0) } == "1"

    static var mayRun: Bool { obstacle == nil || mustRun }

    static func start(in folder: TemporaryFolder, port: UInt16) throws -> CommandRun {
        try CommandRun(
            python, [SourceTree.path("scripts/peer-swift.py"), folder.path, "\(port)"],
            environment: CommandRun.cleanEnvironment)
    }

    /// Asks for a token, as the command of a person does.
    static func token(user: String, key: String, port: UInt16) throws -> String {
        let answer = try ForeignTool("curl").run([
            "-sS", "--fail", "-i", "-H", "X-Storage-User: \(user)", "-H", "X-Storage-Pass: \(key)",
            "http://127.0.0.1:\(port)/auth/v1.0",
        ]).text
        let lines = answer.split(whereSeparator: \.isNewline).map { $0.split(separator: " ") }
        let line = lines.first { $0.first?.lowercased() == "x-auth-token:" }
        return String(try #require(line?.last, "\(answer)"))
    }
}
