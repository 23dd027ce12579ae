// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// Tells the numbers of a program at `/metrics`, that it lives at `/healthz`, and whether it takes work
/// at `/readyz`; by HTTP, on the thread `metrics`.
///
/// A client has two seconds for its request and its answer, and waits for no other: those that have
/// spoken are answered first, and beyond the limit the oldest gives way. Nothing wakes the thread
/// without a client.
package final class MetricsServer: Sendable {
    /// The numbers to tell, asked for on the thread `metrics`; it may read the disk.
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
    private static let clientLimit = 128

    /// Port, if the place has one; otherwise 0.
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

    /// The listening socket, owned by the thread.
    private final class Listener: Sendable {
        let socket: OwnedDescriptor
        var number: Int32 { socket.number }

        init(_ socket: consuming OwnedDescriptor) { self.socket = socket }
    }

    /// A client, from when it is accepted until it has its answer; touched on the thread alone.
    private final class Client {
        let socket: OwnedDescriptor
        let deadline = ContinuousClock.now + patience
        private var head: [UInt8] = []
        /// The rest of its answer; nil until it has asked, and empty when there is no more to do.
        private var answer: ArraySlice<UInt8>?

        init(_ socket: consuming OwnedDescriptor) { self.socket = socket }

        var poll: pollfd {
            pollfd(
                fd: socket.number, events: Int16(answer == nil ? POLLIN : POLLOUT), revents: 0)
        }

        var isOver: Bool { answer?.isEmpty ?? false || deadline <= .now }

        /// Reads or writes what it can without waiting.
        func turn(_ token: String?, _ source: Source) {
            do throws(SystemError) {
                if answer == nil, let more = try LocalSocket.receive(from: socket.number) {
                    head += more
                    if head.suffix(4).elementsEqual("\r\n\r\n".utf8) || head.count >= headLimit {
                        answer = MetricsAnswer(to: head, token: token, source).bytes[...]
                    } else if more.isEmpty {
                        answer = []
                    }
                }
                guard let rest = answer, !rest.isEmpty else { return }
                answer = rest.dropFirst(try LocalSocket.send(rest, to: socket.number))
                if answer?.isEmpty == true { _ = Glibc.shutdown(socket.number, Int32(SHUT_WR)) }
            } catch {
                // A client's failure is its own matter.
                answer = []
            }
        }
    }

    private static func serve(
        _ listener: Listener, until end: Wakeup, _ token: String?, _ source: Source
    ) {
        // The oldest first.
        var clients: [Client] = []
        while true {
            var polls = [
                pollfd(fd: end.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0),
            ]
            polls += clients.map(\.poll)
            let pause = WorkerPause(until: clients.first?.deadline).milliseconds
            // An interrupted wait is one that ended early.
            guard unsafe poll(&polls, nfds_t(polls.count), pause) >= 0 || errno == EINTR else {
                return
            }
            if polls[0].revents != 0 { return }
            for (client, found) in zip(clients, polls.dropFirst(2)) where found.revents != 0 {
                client.turn(token, source)
            }
            clients.removeAll(where: \.isOver)
            guard polls[1].revents != 0 else { continue }
            if clients.count == clientLimit { clients.removeFirst() }
            do throws(SystemError) {
                // A client that has gone needs no answer.
                guard let socket = try LocalSocket.accept(from: listener.number) else { continue }
                clients.append(Client(socket))
            } catch {
                // Without a descriptor the oldest gives way, or the new one waits a little.
                guard clients.isEmpty else {
                    clients.removeFirst()
                    continue
                }
                _ = waitUntilReadable(end.descriptor, by: .now + .milliseconds(100))
            }
        }
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
