// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A file that holds a secret: the service's token, or the key for the disk.
package struct SecretFile {
    /// More than any secret.
    private static let limit = 16 << 10

    /// How long a pipe without a writer, or one that says nothing, is waited for.
    package static let usualPatience = Duration.seconds(30)

    /// A file, and how the person has named it.
    private let path, option: String
    private let patience: Duration

    /// Reads the first line of the file, without white space around it.
    package static func read(
        _ path: String, option: String = "--token-file", patience: Duration = usualPatience
    ) throws(CommandFailure) -> String {
        let file = SecretFile(path: path, option: option, patience: patience)
        let bytes = try file.bytes { $0.contains(0x0A) }
        var line = Array(bytes.prefix { $0 != 0x0A }.drop { $0 <= 0x20 })
        while let last = line.last, last <= 0x20 { line.removeLast() }
        guard !line.isEmpty else {
            throw file.failure(
                "has nothing on its first line",
                hint: "write the token on its first line, and nothing else there")
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Reads the whole file.
    package static func bytes(
        of path: String, option: String
    ) throws(CommandFailure) -> [UInt8] {
        try SecretFile(path: path, option: option, patience: usualPatience).bytes { _ in false }
    }

    /// Writes a new file that its owner alone can read, durably.
    package static func make(_ bytes: [UInt8], at path: String) throws(CommandFailure) {
        do throws(SystemError) {
            let number = try retryingInterrupts("open") {
                unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            }
            let file = OwnedDescriptor(taking: number)
            do throws(SystemError) {
                // The umask can only have taken permissions away, our own among them.
                try retryingInterrupts("chmod") { fchmod(number, 0o600) }
                try writeAll(bytes.span, to: file.number, at: 0)
                try retryingInterrupts("fsync") { fsync(file.number) }
            } catch {
                // A part of a key opens nothing.
                _ = unsafe unlink(path)
                throw error
            }
        } catch {
            guard error.code != EEXIST else {
                throw CommandFailure(
                    "'\(path)' exists already", hint: "choose another name", status: .localIO)
            }
            throw CommandFailure("cannot write '\(path)': \(error.reason)", status: .localIO)
        }
    }

    /// Whether the file can be read a second time, which a pipe cannot.
    package static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Reads up to the limit, or until enough is there.
    private func bytes(isEnough: ([UInt8]) -> Bool) throws(CommandFailure) -> [UInt8] {
        // A named pipe that no process writes to would not even be opened.
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
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
                    "is a pipe from which nothing came for \(seconds) s",
                    hint: "see whether a program writes to it")
            default: throw failure("cannot be read: \(error.reason)")
            }
        }
    }

    private func check(_ descriptor: Int32) throws(CommandFailure) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw failure("cannot be read: \(SystemError.last("fstat").reason)")
        }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw failure("is a folder") }
        guard kind == S_IFREG else { return }
        guard status.st_uid == geteuid() else { throw failure("belongs to another user") }
        guard status.st_mode & 0o077 == 0 else {
            throw failure(
                "can be read by others",
                hint: "change that with: chmod 600 \(ShellWord.quoted(path))")
        }
    }

    private func failure(_ reason: String, hint: String? = nil) -> CommandFailure {
        CommandFailure("\(option): '\(path)' \(reason)", hint: hint, status: .configuration)
    }
}
