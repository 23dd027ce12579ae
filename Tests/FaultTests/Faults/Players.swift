// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

/// The players of other people, as far as they are installed.
enum Players {
    /// What each of them says against a recording.
    static func complaints(about audio: [UInt8], named name: String) -> [String] {
        let commands: [(String, [String])] = [
            name.hasSuffix(".ogg")
                ? ("opusdec", ["--quiet", "FILE", "/dev/null"])
                : name.hasSuffix(".flac")
                    ? ("flac", ["-s", "-t", "FILE"]) : ("sox", ["--ignore-length", "FILE", "-n"]),
            ("ffmpeg", ["-v", "error", "-i", "FILE", "-f", "null", "-"]),
        ]
        return commands.filter { isInstalled($0.0) }.compactMap { tool, arguments in
            do {
                let folder = try TemporaryFolder()
                let path = try folder.write(audio, to: name)
                try ForeignTool(tool).run(arguments.map { $0 == "FILE" ? path : $0 })
                return nil
            } catch {
                return "\(error)"
            }
        }
    }

    private static func isInstalled(_ tool: String) -> Bool {
        access("/usr/bin/" + tool, X_OK) == 0
    }
}
