// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// A certificate that vouches for itself, with its key, in files.
package struct TestCertificate: Sendable {
    /// The certificate, as a client may trust it (PEM).
    package let path: String
    /// The private key (PEM).
    package let keyPath: String

    /// Makes a certificate for a name such as `DNS:speech.example`.
    package init(for name: String = "IP:127.0.0.1", in folder: TemporaryFolder) async throws {
        path = folder.path("certificate.pem")
        keyPath = folder.path("key.pem")
        let made = try await CommandRun.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", keyPath, "-out", path, "-days", "2", "-subj", "/CN=utter test",
                "-addext", "subjectAltName=\(name)",
            ])
        try #require(made.status == .exited(0), "\(made.errorText)")
    }
}
