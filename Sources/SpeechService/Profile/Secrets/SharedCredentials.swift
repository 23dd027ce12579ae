// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform

/// The file in which tools for object stores keep what opens them: `~/.aws/credentials`, or what
/// `AWS_SHARED_CREDENTIALS_FILE` names, with a section for each name that `AWS_PROFILE` may have.
package enum SharedCredentials {
    private static let keys = [
        "AWS_ACCESS_KEY_ID": "aws_access_key_id",
        "AWS_SECRET_ACCESS_KEY": "aws_secret_access_key",
        "AWS_SESSION_TOKEN": "aws_session_token",
    ]

    /// The file's value in place of a variable; nil for another variable, where one of them is set
    /// (the three belong together), and without a file; blocks on the disk.
    ///
    /// - Throws: `ReadingError` for a file that others may read.
    package static func value(of variable: String) throws(ReadingError) -> String? {
        guard let key = keys[variable], isMeant, OwnFile.isRegular(path) else { return nil }
        let text = String(decoding: try OwnFile(path).bytes(), as: UTF8.self)
        return value(of: key, in: text, section: section)
    }

    /// Why a variable has nothing, in one line, with the file that was looked at in its place.
    package static func absence(of variable: String) -> String {
        let text = "\(variable) is not set"
        guard let key = keys[variable], isMeant else { return text }
        do throws(ReadingError) {
            guard try value(of: variable) == nil else { return text }
        } catch {
            var status = stat()
            _ = unsafe stat(path, &status)
            let mode = String(status.st_mode & 0o777, radix: 8)
            return "\(text), and \(error.description) (mode 0\(mode))"
        }
        guard OwnFile.isRegular(path) else { return "\(text), and '\(path)' is not there" }
        return "\(text), and '\(path)' has no \(key) in its section [\(section)]"
    }

    private static var isMeant: Bool {
        path.hasPrefix("/") && keys.keys.allSatisfy { Environment[filled: $0] == nil }
    }

    private static var path: String {
        Environment[filled: "AWS_SHARED_CREDENTIALS_FILE"]
            ?? (Environment["HOME"] ?? "") + "/.aws/credentials"
    }

    private static var section: String { Environment[filled: "AWS_PROFILE"] ?? "default" }

    /// Finds a value in a file of sections and lines `KEY = VALUE`.
    static func value(of key: String, in text: String, section: String) -> String? {
        var isOurs = false
        for line in text.split(whereSeparator: \.isNewline) {
            if let head = line.wholeMatch(of: /\s*\[\s*([^\]]*?)\s*(\].*)?/) {
                isOurs = head.1 == section
            } else if isOurs, let row = line.wholeMatch(of: /\s*(.*?)\s*=\s*(.*?)\s*/), row.1 == key
            {
                return row.2.isEmpty ? nil : String(row.2)
            }
        }
        return nil
    }
}
