// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// Tells the numbers of a program at `/metrics`, that it lives at `/healthz`, and whether it takes work
/// at `/readyz`; by HTTP, on the thread `metrics`.
///
/// One client is answered at a time, and has two seconds for its request; nothing wakes the thread
/// between two clients.
package final class MetricsServer: Sendable {
    /// What is told, asked for on the thread `metrics`; it may read the disk.
    package struct Source: Sendable {
        var families: @Sendable () -> [MetricFamily]
        /// Why the program takes no work, in one line; nil when it does.
        var obstacle: @Sendable () -> String?

        package init(
            families: @escaping @Sendable () -> [MetricFamily],
            obstacle: @escaping @Sendable () -> String? = { nil }
        ) {
            (self.families, self.obstacle) = (families, obstacle)
        }
    }

    private static let patience = Duration.seconds(2)
    private static let headLimit = 8_192

    /// Of a place with a port; 0 elsewhere.
    package let port: Int
    private let end: Wakeup
    private let thread: NamedThread

    /// Listens, and answers from now on; a client has to show `token`, unless that is nil, as
    /// `Authorization: Bearer`.
    package init(
        at place: MetricsPlace, token: String? = nil, _ source: Source
    ) throws(SystemError) {
        let listener: OwnedDescriptor
        switch place {
        case .port(let address, let number):
            listener = try NumericSocket.listen(at: address, port: number)
            port = NumericSocket.port(of: listener)
        case .path(let path):
            listener = try LocalSocket.listen(at: path)
            port = 0
        }
        let end = try Wakeup()
        self.end = end
        let shared = Listener(listener)
        thread = try NamedThread(name: "metrics") { Self.serve(shared, until: end, token, source) }
    }

    /// Ends the thread, and waits for it.
    package func shutDown() {
        end.signal()
        thread.join()
    }

    /// What the thread owns.
    private final class Listener: Sendable {
        let socket: OwnedDescriptor
        var number: Int32 { socket.number }

        init(_ socket: consuming OwnedDescriptor) { self.socket = socket }
    }

    private static func serve(
        _ listener: Listener, until end: Wakeup, _ token: String?, _ source: Source
    ) {
        while true {
            var polls = [
                pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: end.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            // An interrupted wait is one that ended early.
            guard unsafe poll(&polls, 2, -1) >= 0 || errno == EINTR else { return }
            if polls[1].revents != 0 { return }
            // Without a descriptor the client waits a little; one that has gone needs no answer.
            guard let client = try? LocalSocket.accept(from: listener.number) else {
                _ = waitUntilReadable(end.descriptor, by: .now + .milliseconds(100))
                continue
            }
            answer(client, token, source)
        }
    }

    private static func answer(
        _ client: borrowing OwnedDescriptor, _ token: String?, _ source: Source
    ) {
        let deadline = ContinuousClock.now + patience
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), head.count < headLimit {
            guard waitUntilReadable(client.number, by: deadline) else { return }
            // What is wrong with a client is its own matter; here and below.
            guard let more = try? LocalSocket.receive(from: client.number) else { return }
            if more.isEmpty { return }
            head += more
        }
        var rest = MetricsAnswer(to: head, token: token, source).bytes[...]
        while !rest.isEmpty {
            var polls = pollfd(fd: client.number, events: Int16(POLLOUT), revents: 0)
            guard unsafe poll(&polls, 1, WorkerPause.until(deadline).milliseconds) > 0,
                // As above.
                let count = try? LocalSocket.send(rest, to: client.number)
            else { return }
            rest = rest.dropFirst(count)
        }
        _ = Glibc.shutdown(client.number, Int32(SHUT_WR))
    }
}

struct MetricsAnswer {
    let bytes: [UInt8]

    init(to head: [UInt8], token: String?, _ source: MetricsServer.Source) {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
        let (status, type, body) = Self.answer(words, lines.dropFirst(), token, source)
        let isHead = words.first == "HEAD"
        let fields = [
            "HTTP/1.1 \(status)", "Content-Type: \(type)", "Content-Length: \(body.utf8.count)",
            "Cache-Control: no-store", "Connection: close",
        ]
        bytes = Array(
            (fields.joined(separator: "\r\n") + "\r\n"
                + (status.hasPrefix("401") ? "WWW-Authenticate: Bearer\r\n" : "")
                + (status.hasPrefix("405") ? "Allow: GET, HEAD\r\n" : "") + "\r\n"
                + (isHead ? "" : body)).utf8)
    }

    private static func answer(
        _ words: [Substring], _ fields: ArraySlice<Substring>, _ token: String?,
        _ source: MetricsServer.Source
    ) -> (status: String, type: String, body: String) {
        let plain = "text/plain; charset=utf-8"
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else {
            return ("400 Bad Request", plain, "this is not a request of HTTP/1.1\n")
        }
        guard ["GET", "HEAD"].contains(words[0]) else {
            return ("405 Method Not Allowed", plain, "use GET\n")
        }
        switch words[1].prefix(while: { $0 != "?" }) {
        case "/healthz": return ("200 OK", plain, "ok\n")
        case "/readyz":
            guard let obstacle = source.obstacle() else { return ("200 OK", plain, "ready\n") }
            return ("503 Service Unavailable", plain, obstacle + "\n")
        case "/metrics":
            guard token.map({ isShown($0, in: fields) }) ?? true else {
                return ("401 Unauthorized", plain, "a token is wanted\n")
            }
            let families = ProcessNumbers.families + source.families()
            return ("200 OK", "text/plain; version=0.0.4; charset=utf-8", families.text)
        default: return ("404 Not Found", plain, "there are /metrics, /healthz and /readyz\n")
        }
    }

    /// Compares in a time that does not tell how much of it was right.
    private static func isShown(_ token: String, in fields: ArraySlice<Substring>) -> Bool {
        let shown = fields.lazy.compactMap { field -> Substring? in
            guard field.lowercased().hasPrefix("authorization:") else { return nil }
            let value = field.dropFirst(14).drop { $0 == " " }
            return value.lowercased().hasPrefix("bearer ") ? value.dropFirst(7) : nil
        }.first
        guard let shown, shown.utf8.count == token.utf8.count else { return false }
        return zip(shown.utf8, token.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// Where the numbers of a program are told: `127.0.0.1:9464`, `[::1]:9464` or `unix:/run/x.sock`.
package enum MetricsPlace: Sendable, Equatable {
    case port(String, UInt16)
    case path(String)

    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard path.hasPrefix("/") else { return nil }
            self = .path(path)
            return
        }
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        var address = text[..<colon]
        if address.hasPrefix("[") {
            guard address.hasSuffix("]") else { return nil }
            address = address.dropFirst().dropLast()
        } else if address.contains(":") {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 16)
        let family = address.contains(":") ? AF_INET6 : AF_INET
        guard unsafe inet_pton(family, String(address), &bytes) == 1 else { return nil }
        self = .port(String(address), port)
    }

    /// Whether other machines can reach it.
    package var isOpen: Bool {
        if case .port(let address, _) = self {
            !address.hasPrefix("127.") && address != "::1"
        } else {
            false
        }
    }
}

/// Whether a program takes work; from any thread.
package final class Readiness: Sendable {
    private let state = Mutex<String?>("it is starting")

    package init() {}

    /// Why it takes none, in one line; nil when it does.
    package var obstacle: String? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    package static let ending = "it is ending"
}
