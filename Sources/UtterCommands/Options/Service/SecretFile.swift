// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

package enum SecretFile {
    /// Reads the first line of the file that the person has named by an option.
    package static func read(
        _ path: String, option: String = "--token-file"
    ) throws(CommandFailure) -> String {
        try explained(option) { try OwnFile(path).firstLine() }
    }

    /// Writes a new file that its owner alone can read, durably.
    static func make(_ bytes: [UInt8], at path: String) throws(CommandFailure) {
        do throws(SystemError) {
            let number = try retryingInterrupts("open") {
                unsafe open(path.cPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            }
            let file = OwnedDescriptor(taking: number)
            do throws(SystemError) {
                // The umask can only have taken permissions away, our own among them.
                try retryingInterrupts("chmod") { fchmod(number, 0o600) }
                try writeAll(bytes.span, to: file.number, at: 0)
                try retryingInterrupts("fsync") { fsync(file.number) }
            } catch {
                // A part of a key opens nothing.
                _ = unsafe unlink(path.cPath)
                throw error
            }
        } catch {
            guard error.code != EEXIST else {
                throw CommandFailure(
                    "'\(path)' exists already", hint: "choose another name", status: .localIO)
            }
            throw .cannotWrite(path, error)
        }
    }
}

/// A file of certificates to trust, looked at before anything is recorded.
enum CertificateFile {
    /// More than the certificates of all authorities together.
    private static let limit = 4 << 20

    private static let certificate = [
        "-----BEGIN CERTIFICATE-----", "-----BEGIN TRUSTED CERTIFICATE-----",
        "-----BEGIN X509 CERTIFICATE-----",
    ]

    /// Checks that a file holds certificates in PEM; of a pipe, that it can be read.
    static func check(
        _ path: String, option: String, holds what: String = "certificate",
        in markers: [String] = certificate
    ) throws(CommandFailure) {
        func failure(_ reason: String, hint: String? = nil) -> CommandFailure {
            CommandFailure("\(option): '\(path)' \(reason)", hint: hint, status: .configuration)
        }
        let number = unsafe open(path.cPath, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else {
            let error = SystemError.last("open")
            throw failure("cannot be read: \(error.reason)", hint: Hints.ofFile(error))
        }
        let file = OwnedDescriptor(taking: number)
        var status = stat()
        guard unsafe fstat(file.number, &status) == 0 else {
            throw failure("cannot be read: \(SystemError.last("fstat").reason)")
        }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw failure("is a folder", hint: "name a file in it") }
        // Bytes that are read of a pipe would be lost to libcurl.
        guard kind == S_IFREG else { return }
        var bytes = [UInt8](repeating: 0, count: min(limit, Int(status.st_size)))
        let count = unsafe read(file.number, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        guard markers.contains(where: text.contains) else {
            throw failure(
                "does not contain a \(what) in PEM",
                hint: what == "certificate"
                    ? "it has a line -----BEGIN CERTIFICATE-----; make it of another form with: "
                        + "openssl x509 -inform der -in FILE -out FILE.pem"
                    : "it has a line -----BEGIN PRIVATE KEY-----, and no passphrase; take that "
                        + "away with: openssl pkey -in FILE -out FILE.pem")
        }
    }

    /// The lines of a private key that OpenSSL reads without a passphrase.
    static let privateKey = [
        "-----BEGIN PRIVATE KEY-----", "-----BEGIN EC PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----",
    ]
}
