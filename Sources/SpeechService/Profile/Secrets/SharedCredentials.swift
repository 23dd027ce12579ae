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

    /// What the file has in place of a variable; nil for another variable, where one of them is set
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
        path.hasPrefix("/") && keys.keys.allSatisfy { (Environment[$0] ?? "").isEmpty }
    }

    private static var path: String {
        let named = Environment["AWS_SHARED_CREDENTIALS_FILE"] ?? ""
        return named.isEmpty ? (Environment["HOME"] ?? "") + "/.aws/credentials" : named
    }

    private static var section: String {
        let name = Environment["AWS_PROFILE"] ?? ""
        return name.isEmpty ? "default" : name
    }

    /// Of a file of sections and lines `KEY = VALUE`.
    static func value(of key: String, in text: String, section: String) -> String? {
        var isOurs = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = trimmed(line)
            if line.hasPrefix("[") {
                isOurs = trimmed(line.dropFirst().prefix { $0 != "]" }) == section
            } else if isOurs, let sign = line.firstIndex(of: "="), trimmed(line[..<sign]) == key {
                let value = trimmed(line[line.index(after: sign)...])
                return value.isEmpty ? nil : String(value)
            }
        }
        return nil
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return start[...last]
    }
}
