// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A file that holds a key.
package enum SecretFile {
    /// More than any key.
    private static let limit = 16 << 10

    /// Reads the first line of the file, without white space around it.
    ///
    /// - Throws: `CommandFailure` when the file cannot be read, when others than its owner may
    ///   read it, or when it is empty.
    package static func read(_ path: String) throws(CommandFailure) -> String {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else {
            throw failure(path, "cannot be opened: \(SystemError.last("open").reason)")
        }
        let descriptor = OwnedDescriptor(taking: number)
        try check(descriptor.number, path)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: limit)
        // A pipe, as of <(pass show speech), comes in pieces.
        while bytes.count < limit && !bytes.contains(0x0A) {
            let count = unsafe Glibc.read(descriptor.number, &buffer, limit - bytes.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw failure(path, "cannot be read: \(SystemError.last("read").reason)")
            }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        var line = Array(bytes.prefix { $0 != 0x0A }.drop { $0 <= 0x20 })
        while let last = line.last, last <= 0x20 { line.removeLast() }
        guard !line.isEmpty else {
            throw failure(
                path, "has nothing in its first line", hint: "put the key there, alone")
        }
        return String(decoding: line, as: UTF8.self)
    }

    private static func check(_ descriptor: Int32, _ path: String) throws(CommandFailure) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw failure(path, "cannot be read: \(SystemError.last("fstat").reason)")
        }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw failure(path, "is a folder") }
        guard kind != S_IFREG || status.st_mode & 0o077 == 0 else {
            throw failure(
                path, "may be read by others",
                hint: "change that with: chmod 600 \(ShellWord.quoted(path))")
        }
    }

    private static func failure(
        _ path: String, _ reason: String, hint: String? = nil
    ) -> CommandFailure {
        CommandFailure(
            "--token-file: '\(path)' \(reason)", hint: hint, status: .configuration)
    }
}
