// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A socket that listens, which one process of this person has.
package final class SocketOwner: Sendable {
    private let place: SocketPlace?
    private let socket: OwnedDescriptor
    /// The mark of the path when it was ours.
    private let mark: FileMark?

    /// How long another process may take to change the socket.
    private static let patience = Duration.seconds(10)

    private init(_ socket: consuming OwnedDescriptor, at place: SocketPlace?) {
        self.socket = socket
        self.place = place
        mark = place.flatMap { FileMark($0.path) }
    }

    /// The socket that the program which started this one has made; nil when there is none.
    ///
    /// It says so as `sd_listen_fds(3)` describes. The variables are unset: children have no such
    /// socket.
    package static func inherited() -> SocketOwner? {
        let (process, count) = (Environment["LISTEN_PID"], Environment["LISTEN_FDS"])
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { _ = unsafe unsetenv(name) }
        let first: Int32 = 3
        guard process.flatMap({ Int32($0) }) == getpid(), count.flatMap({ Int($0) }) ?? 0 > 0,
            LocalSocket.isListening(first)
        else { return nil }
        LocalSocket.makeNonblocking(first)
        return SocketOwner(OwnedDescriptor(taking: first), at: nil)
    }

    /// Makes the socket; nil when another process answers there.
    ///
    /// A socket that no process listens at any more is replaced. Blocks for a moment while
    /// another process does the same.
    package static func claim(_ place: SocketPlace) throws(ControlFailure) -> SocketOwner? {
        try place.prepareFolder()
        do throws(SystemError) {
            let lock = try FileLock(path: place.path + ".lock", until: .now + Self.patience)
            defer { withExtendedLifetime(lock) {} }
            if try isAnswered(place.path) { return nil }
            return SocketOwner(try LocalSocket.listen(at: place.path), at: place)
        } catch {
            throw ControlFailure(
                "the \(place.name) cannot be made: \(error.description)", status: .configuration,
                cause: error)
        }
    }

    private static func isAnswered(_ path: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try LocalSocket.connect(to: path, within: .seconds(1))
            return true
        } catch {
            switch error.code {
            case ENOENT, ECONNREFUSED: return false
            // Its queue is full: a process has it.
            case EAGAIN, EINPROGRESS: return true
            default: throw error
            }
        }
    }

    package var listener: Int32 { socket.number }

    /// For messages.
    package var address: String { place?.text ?? "the socket that the service manager has made" }

    /// Takes the socket's name away, if it is still ours.
    ///
    /// Clients that wait at it are turned away when this value goes, and look again.
    package func remove() {
        guard let place, let mark else { return }
        // Without the lock it stays, and is found stale.
        guard let lock = try? FileLock(path: place.path + ".lock", until: .now + Self.patience)
        else { return }
        if FileMark(place.path) == mark { _ = unsafe unlink(place.path.cPath) }
        withExtendedLifetime(lock) {}
    }
}

/// The program that has started this one as a service, if one has.
package enum ServiceManager {
    /// Tells it how the service fares, as `sd_notify(3)` does; nothing when there is none.
    package static func tell(_ words: String) {
        guard let path = Environment["NOTIFY_SOCKET"], let first = path.first,
            "/@".contains(first)
        else { return }
        // A manager that does not listen does not want to know.
        try? LocalSocket.sendDatagram(words, to: path)
    }
}
