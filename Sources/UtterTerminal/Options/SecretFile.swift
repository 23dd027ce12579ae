// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Utter

/// A file that holds a key.
package enum SecretFile {
    /// More than any key.
    private static let limit = 16 << 10

    /// Reads the key.
    ///
    /// - Throws: `ServiceError.invalidCredential` when the file cannot be read, or when others
    ///   than its owner may read it.
    package static func read(_ path: String) throws(ServiceError) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno))
            throw .invalidCredential(reason: "'\(path)' cannot be opened: \(reason)")
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw .invalidCredential(reason: "'\(path)' is not a file")
        }
        guard status.st_mode & S_IFMT != S_IFREG || status.st_mode & 0o077 == 0 else {
            throw .invalidCredential(
                reason: "'\(path)' may be read by others; change that with: chmod 600 \(path)")
        }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = unsafe Glibc.read(descriptor, &bytes, limit)
        guard count > 0 else { throw .invalidCredential(reason: "'\(path)' is empty") }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
