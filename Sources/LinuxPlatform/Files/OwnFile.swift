// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file of the user whose process this is: one that holds a secret, or settings.
package struct OwnFile: Sendable {
    /// More than any secret.
    private static let limit = 16 << 10
    /// How long a pipe without a writer, or one that says nothing, is waited for.
    static let usualPatience = Duration.seconds(30)

    private let path: String
    private let patience: Duration

    package init(_ path: String, patience: Duration = usualPatience) {
        (self.path, self.patience) = (path, patience)
    }

    /// False for a pipe, which can be read once.
    package static func isRegular(_ path: String) -> Bool { kind(of: path) == S_IFREG }

    package static func isPipe(_ path: String) -> Bool { kind(of: path) == S_IFIFO }

    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path.cPath, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// The first line, without white space around it.
    package func firstLine() throws(ReadingError) -> String {
        let bytes = try bytes { $0.contains(0x0A) }
        var line = Array(bytes.prefix { $0 != 0x0A }.drop { $0 <= 0x20 })
        while let last = line.last, last <= 0x20 { line.removeLast() }
        guard !line.isEmpty else {
            throw failure("has nothing on its first line", .writeFirstLine)
        }
        return String(decoding: line, as: UTF8.self)
    }

    package func bytes(
        until isEnough: ([UInt8]) -> Bool = { _ in false }
    ) throws(ReadingError) -> [UInt8] {
        let number = open()
        guard number >= 0 else {
            throw failure("cannot be opened: \(SystemError.last("open").reason)")
        }
        let descriptor = OwnedDescriptor(taking: number)
        try check(descriptor.number)
        do throws(SystemError) {
            // A pipe, as of <(pass show speech), comes in pieces.
            return try readAll(
                descriptor.number, limit: Self.limit, patience: patience, until: isEnough)
        } catch {
            switch error.code {
            case EFBIG: throw failure("is too long for a key")
            case ETIMEDOUT:
                let seconds = Int(patience / .seconds(1))
                throw failure(
                    "is a pipe from which nothing came for \(seconds) s", .writeToPipe)
            default: throw failure("cannot be read: \(error.reason)")
            }
        }
    }

    private func open() -> Int32 {
        // Without O_NONBLOCK a pipe of that name would wait for its writer.
        unsafe Glibc.open(path.cPath, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    }

    private func check(_ descriptor: Int32) throws(ReadingError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw failure("cannot be read: \(SystemError.last("fstat").reason)")
        }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw failure("is a folder") }
        guard kind == S_IFREG else { return }
        guard status.st_uid == geteuid() else { throw failure("belongs to another user") }
        guard status.st_mode & 0o077 == 0 else {
            throw failure("can be read by others", .closeToReaders(path: path))
        }
    }

    func failure(
        _ reason: String, _ remedy: ReadingError.Remedy? = nil
    ) -> ReadingError {
        ReadingError("'\(path)' \(reason)", remedy)
    }
}

// MARK: - Settings

/// A file of settings is read only when it is the user's own: it may name a command that is run, so that
/// those who may write it could do all that the user can.
extension OwnFile {
    /// Reads at most `limit` bytes, and follows a link; nil when there is no file.
    ///
    /// - Throws: `ReadingError` when it cannot be read, or may be written by others.
    package func settingsText(limit: Int) throws(ReadingError) -> String? {
        let number = open()
        guard number >= 0 else {
            let error = SystemError.last("open")
            guard error.code == ENOENT else { throw unusable("cannot be read: \(error.reason)") }
            guard isLink else { return nil }
            throw unusable("is a link to a file that is not there", .move)
        }
        let file = OwnedDescriptor(taking: number)
        try checkSettings(file.number)
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try readAll(file.number, limit: limit)
        } catch {
            throw unusable(
                error.code == EFBIG
                    ? "is longer than \(limit >> 20) MiB"
                    : "cannot be read: \(error.reason)", .move)
        }
        return try text(of: bytes)
    }

    private func checkSettings(_ descriptor: Int32) throws(ReadingError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw unusable("cannot be read: \(SystemError.last("fstat").reason)")
        }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw unusable("is a folder", .move) }
        guard kind == S_IFREG else { throw unusable("is not a file", .move) }
        guard Self.isOwn(status) else { throw unusable("belongs to another user") }
        guard status.st_mode & 0o022 == 0 else { throw tooOpen(path, "it") }
        // In a folder that others may write, the file could be replaced.
        let folder = Folder.parent(of: path)
        guard unsafe stat(folder.cPath, &status) == 0 else { return }
        guard Self.isOwn(status) else { throw unusable("is in a folder of another user") }
        guard status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0 else {
            throw tooOpen(folder, "its folder")
        }
    }

    /// Root can write everything anyway.
    private static func isOwn(_ status: stat) -> Bool {
        status.st_uid == geteuid() || status.st_uid == 0
    }

    private var isLink: Bool {
        var status = stat()
        return unsafe lstat(path.cPath, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private func tooOpen(_ path: String, _ what: String) -> ReadingError {
        ReadingError(
            "\(self.path): \(what) can be written by others", .closeToWriters(path: path))
    }

    private func unusable(
        _ reason: String, _ remedy: ReadingError.Remedy? = nil
    ) -> ReadingError {
        ReadingError("\(path): it \(reason)", remedy)
    }

    /// - Throws: `ReadingError` with the place of the first byte that is not UTF-8.
    private func text(of bytes: [UInt8]) throws(ReadingError) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            .enumerated()
        where String(validating: line, as: UTF8.self) == nil {
            // Decoding turns each unreadable byte into this character.
            let column = String(decoding: line, as: UTF8.self).prefix { $0 != "\u{FFFD}" }.count
            throw ReadingError(
                "\(path):\(index + 1):\(column + 1): it is not UTF-8", .correct(file: path))
        }
        throw ReadingError("\(path): it is not UTF-8", .correct(file: path))
    }
}

/// Why a secret, a profile or a file of settings cannot be read; the description says it in one line.
public struct ReadingError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Remedy: Sendable, Equatable {
        case correct(file: String)
        case move
        case closeToReaders(path: String)
        case closeToWriters(path: String)
        case writeFirstLine
        case writeToPipe
    }

    /// The message: what happened and why.
    public let description: String
    package let remedy: Remedy?

    package init(_ description: String, _ remedy: Remedy? = nil) {
        (self.description, self.remedy) = (description, remedy)
    }
}
