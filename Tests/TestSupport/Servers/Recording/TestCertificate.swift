// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// A certificate that vouches for itself, with its key, in files.
package struct TestCertificate: Sendable {
    /// The certificate, as a client may trust it (PEM).
    package let path: String
    /// The private key (PEM).
    package let keyPath: String

    /// Makes a certificate for a name such as `DNS:speech.example`.
    package init(
        for name: String = "IP:127.0.0.1", isExpired: Bool = false, in folder: TemporaryFolder
    ) async throws {
        path = folder.path("certificate.pem")
        keyPath = folder.path("key.pem")
        // OpenSSL 3.0 takes a negative number of days for such tests, and later ones name the dates.
        let dates = "-not_before 20200101000000Z -not_after 20200102000000Z"
        let signing = isExpired ? "sign -days -1 || sign \(dates)" : "sign -days 2"
        let made = try await CommandRun.run(
            "sh", ["-ec", Self.script + signing, folder.path, name])
        try #require(made.status == .exited(0), "\(made.errorText)")
    }

    /// Makes a key and a request in the folder `$0` for the name `$1`.
    private static let script = """
        cd "$0"
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem \\
          -out request.pem -subj '/CN=utter test' -addext "subjectAltName=$1"
        sign() {
          openssl x509 -req -in request.pem -copy_extensions copyall -signkey key.pem \\
            -out certificate.pem "$@"
        }

        """
}
