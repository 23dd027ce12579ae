// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A file that holds a secret: the service's token, or the key for the disk.
package struct SecretFile {
    /// More than any secret.
    private static let limit = 16 << 10

    /// A file, and how the person has named it.
    private let path, option: String

    /// Reads the first line of the file, without white space around it.
    ///
    /// - Throws: `CommandFailure` when the file cannot be read, when others than its owner may
    ///   read it, or when it is empty.
    ///
    /// `option` is what the person named the file behind, for messages.
    package static func read(
        _ path: String, option: String = "--token-file"
    ) throws(CommandFailure) -> String {
        let file = SecretFile(path: path, option: option)
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
    ///
    /// - Parameters:
    ///   - path: the file's path.
    ///   - option: what the person named it behind, for messages.
    /// - Returns: its bytes, which the caller clears.
    /// - Throws: `CommandFailure` when the file cannot be read, when others than its owner may
    ///   read it, or when it is longer than any key.
    package static func bytes(
        of path: String, option: String
    ) throws(CommandFailure) -> [UInt8] {
        let file = SecretFile(path: path, option: option)
        let bytes = try file.bytes { _ in false }
        guard bytes.count < limit else { throw file.failure("is too long for a key") }
        return bytes
    }

    /// Whether the file can be read a second time, which a pipe cannot.
    package static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Reads up to the limit, or until enough is there.
    private func bytes(isEnough: ([UInt8]) -> Bool) throws(CommandFailure) -> [UInt8] {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else {
            throw failure("cannot be opened: \(SystemError.last("open").reason)")
        }
        let descriptor = OwnedDescriptor(taking: number)
        try check(descriptor.number)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: Self.limit)
        // A pipe, as of <(pass show speech), comes in pieces.
        while bytes.count < Self.limit && !isEnough(bytes) {
            let count: Int
            do throws(SystemError) {
                count = try retryingInterrupts("read") {
                    unsafe Glibc.read(descriptor.number, &buffer, Self.limit - bytes.count)
                }
            } catch {
                throw failure("cannot be read: \(error.reason)")
            }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return bytes
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
