// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Testing

/// `nginx` in front of another server, with TLS and the version of HTTP that the client wishes.
///
/// It hands bytes on as they come, and the end of a connection that has not answered as well. The
/// server behind gets each request on a connection of its own; the fields `X-Connection` and
/// `X-Protocol` say by which of the client's connections it came, and in which version.
package final class TLSFront: Sendable {
    /// Lets it speak HTTP/2 and nothing else.
    package static let http2Alone = "if ($server_protocol != HTTP/2.0) { return 444; }"

    package let port: UInt16
    package let certificateFile: String
    private let folder: TemporaryFolder
    private let run: CommandRun
    private let reservation: ReservedPort

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - service: the port of the server behind.
    ///   - name: who the certificate is for.
    ///   - isExpired: whether the certificate's time is over.
    ///   - offersHTTP2: whether it speaks HTTP/2 as well.
    ///   - hasIPv6: whether it listens at `::1` as well.
    ///   - directives: more of the configuration, in `nginx`'s own words.
    /// - Throws: the failed expectation when it does not begin to listen.
    package init(
        to service: UInt16, for name: String = "IP:127.0.0.1", isExpired: Bool = false,
        offersHTTP2: Bool = true, hasIPv6: Bool = false, _ directives: String = ""
    ) async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        let certificate = try await TestCertificate(for: name, isExpired: isExpired, in: folder)
        certificateFile = certificate.path
        let reservation = try ReservedPort()
        (self.reservation, port) = (reservation, reservation.port)
        let hosts = ["127.0.0.1"] + (hasIPv6 ? ["[::1]"] : [])
        let listening = hosts.map {
            "listen \($0):\(reservation.port) ssl \(offersHTTP2 ? "http2" : "");"
        }
        let text = Self.configuration(
            in: folder,
            """
            \(listening.joined(separator: " "))
            ssl_certificate \(certificate.path); ssl_certificate_key \(certificate.keyPath);
            location / { proxy_pass http://127.0.0.1:\(service); }
            location @lost { return 444; }
            \(directives)
            """)
        let path = try folder.write(Array(text.utf8), to: "nginx.conf")
        run = try CommandRun("nginx", ["-c", path, "-e", "stderr"])
        try #require(
            await reservation.waitUntilOpen(), "\(String(decoding: run.error, as: UTF8.self))")
    }

    // Before its folder goes: it may write there.
    deinit { stop() }

    /// The configuration of an `nginx` whose only server is this one, and which writes into a
    /// folder alone.
    static func configuration(in folder: TemporaryFolder, _ server: String) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { name in
            "\(name)_temp_path \(folder.path(name));"
        }
        return """
            daemon off; master_process off; pid \(folder.path("pid"));
            error_log stderr info;
            events { worker_connections 64; }
            http {
            access_log off; \(temporary.joined(separator: " "))
            client_max_body_size 0; client_body_timeout 1h; ssl_protocols TLSv1.2 TLSv1.3;
            proxy_http_version 1.1; proxy_read_timeout 1h; error_page 502 504 = @lost;
            proxy_request_buffering off; proxy_buffering off; proxy_set_header Host $http_host;
            proxy_set_header X-Connection $connection; proxy_set_header X-Protocol $server_protocol;
            server { \(server) }
            }
            """
    }

    package func url(_ path: String = "/") -> String { "https://127.0.0.1:\(port)\(path)" }

    /// Waits until `nginx` has said this of a connection; false when it does not.
    package func logs(_ text: String) async -> Bool {
        await run.wait(for: text, in: .error)
    }

    /// Ends it as an attacker would: each connection gets FIN, without close_notify.
    package func stop() { run.signal(SIGKILL) }
}

extension RecordingServer {
    /// How many connections to a `TLSFront` brought the requests so far.
    package var frontConnectionCount: Int {
        Set(requests.compactMap { $0["X-Connection"] }).count
    }
}
