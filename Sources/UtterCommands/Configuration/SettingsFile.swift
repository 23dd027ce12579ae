// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
package import Settings

/// A file of settings on the disk, which is read only when it is the person's own.
///
/// Such a file may name a command that is run, so that those who may write it could do all that
/// the person can.
package struct SettingsFile {
    package let path: String

    package init(path: String) { self.path = path }

    /// Reads the file; a link is followed.
    ///
    /// - Returns: its outermost table; nil when there is no file.
    /// - Throws: `CommandFailure` with line and column where it is no TOML, or when it cannot be
    ///   read, or may be written by others.
    package func table() throws(CommandFailure) -> SettingsTable? {
        guard let text = try text() else { return nil }
        do throws(SettingsError) {
            return try SettingsDocument.parse(text)
        } catch {
            throw failure(error)
        }
    }

    /// Reads the file's text, as `table()` does.
    package func text() throws(CommandFailure) -> String? {
        guard let bytes = try bytes() else { return nil }
        do throws(SettingsError) {
            return try Self.text(of: bytes)
        } catch {
            throw failure(error)
        }
    }

    package func failure(_ error: SettingsError) -> CommandFailure {
        let hint =
            path == ConfigurationFile.path
            ? "correct it with: utter config edit" : "correct it there"
        return CommandFailure(error.text(of: path), hint: hint, status: .configuration)
    }

    // MARK: - Bytes

    private func bytes() throws(CommandFailure) -> [UInt8]? {
        // Without O_NONBLOCK a pipe of that name would wait for its writer.
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else {
            let error = SystemError.last("open")
            guard error.code == ENOENT else { throw failure("cannot be read: \(error.reason)") }
            guard isLink else { return nil }
            throw failure("is a link to a file that is not there", hint: Self.move)
        }
        let file = OwnedDescriptor(taking: number)
        try check(file.number)
        do throws(SystemError) {
            return try readAll(file.number, limit: SettingsDocument.byteLimit)
        } catch {
            throw failure(
                error.code == EFBIG
                    ? "is longer than \(SettingsDocument.byteLimit >> 20) MiB"
                    : "cannot be read: \(error.reason)", hint: Self.move)
        }
    }

    private func check(_ descriptor: Int32) throws(CommandFailure) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw failure("cannot be read: \(SystemError.last("fstat").reason)")
        }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw failure("is a folder", hint: Self.move) }
        guard kind == S_IFREG else { throw failure("is not a file", hint: Self.move) }
        guard Self.isOwn(status) else { throw failure("belongs to another user") }
        guard status.st_mode & 0o022 == 0 else { throw tooOpen(path, "it") }
        // In a folder that others may write, the file could be replaced.
        let folder = Self.folder(of: path)
        guard unsafe stat(folder, &status) == 0 else { return }
        guard Self.isOwn(status) else { throw failure("is in a folder of another user") }
        guard status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0 else {
            throw tooOpen(folder, "its folder")
        }
    }

    /// Root can write everything anyway.
    private static func isOwn(_ status: stat) -> Bool {
        status.st_uid == geteuid() || status.st_uid == 0
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private var isLink: Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private func tooOpen(_ path: String, _ what: String) -> CommandFailure {
        CommandFailure(
            "\(self.path): \(what) can be written by others",
            hint: "change that with: chmod go-w \(ShellWord.quoted(path))", status: .configuration)
    }

    private static let move = "move it away"

    private func failure(_ reason: String, hint: String? = nil) -> CommandFailure {
        CommandFailure("\(path): it \(reason)", hint: hint, status: .configuration)
    }

    /// The text of bytes in UTF-8.
    ///
    /// - Throws: `SettingsError` with the place of the first byte that is none.
    static func text(of bytes: [UInt8]) throws(SettingsError) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            .enumerated()
        where String(validating: line, as: UTF8.self) == nil {
            // What cannot be read becomes this character.
            let column = String(decoding: line, as: UTF8.self).prefix { $0 != "\u{FFFD}" }.count
            throw SettingsError(
                "it is not UTF-8", at: SettingsPlace(line: index + 1, column: column + 1))
        }
        throw SettingsError("it is not UTF-8")
    }
}
