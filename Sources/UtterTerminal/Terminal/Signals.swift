// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Utter

/// What a person, or another program, asks a running take for.
package enum Request: Sendable, Equatable {
    /// Enter or SIGUSR1: the recording is over.
    case stop
    /// Ctrl-C (SIGINT).
    case cancel
    /// SIGTERM or SIGHUP; the number is the signal's.
    case leave(signal: Int32)
}

/// Signals and the Enter key, as one stream of requests.
///
/// A thread of its own reads a `signalfd(2)` and the terminal, so that no code of ours ever
/// runs in a signal handler.
package final class Signals: Sendable {
    /// What was asked for, in order.
    package let requests: AsyncStream<Request>
    private let continuation: AsyncStream<Request>.Continuation

    private static let watched = [SIGINT, SIGTERM, SIGHUP, SIGUSR1]

    /// Blocks the watched signals and ignores SIGPIPE. Called before any thread is started.
    package static func block() {
        var mask = set
        _ = unsafe pthread_sigmask(SIG_BLOCK, &mask, nil)
        _ = signal(SIGPIPE, SIG_IGN)
        // A shell without job control starts what it puts into the background with SIGINT
        // ignored, and an ignored signal never arrives. SIGHUP stays as nohup(1) left it.
        for number in [SIGINT, SIGTERM, SIGUSR1] { _ = signal(number, SIG_DFL) }
    }

    /// Undoes `block`, for a program that is about to be executed in place of this one.
    package static func unblock() {
        var mask = set
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &mask, nil)
        _ = signal(SIGPIPE, SIG_DFL)
    }

    private static var set: sigset_t {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        for number in watched { _ = unsafe sigaddset(&mask, number) }
        return mask
    }

    /// Starts to listen.
    ///
    /// - Parameter listensToEnter: whether a line from the terminal, or from a pipe on standard
    ///   input, asks to stop.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    package init(listensToEnter: Bool) throws(SystemError) {
        (requests, continuation) = AsyncStream.makeStream()
        let descriptor = try SignalDescriptor(signals: Self.watched)
        let keyboard = listensToEnter ? Keyboard() : nil
        _ = try NamedThread(name: "signals") { [self] in
            listen(descriptor: descriptor, keyboard: keyboard)
        }
    }

    private func listen(descriptor: SignalDescriptor, keyboard: Keyboard?) {
        var keyboard = keyboard
        while true {
            var descriptors = [
                pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: keyboard?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&descriptors, 2, -1)
            guard count > 0 || errno == EINTR else { return }
            while let number = descriptor.next() {
                switch number {
                case SIGINT: continuation.yield(.cancel)
                case SIGUSR1: continuation.yield(.stop)
                default: continuation.yield(.leave(signal: number))
                }
            }
            guard let present = keyboard, descriptors[1].revents != 0 else { continue }
            switch present.read() {
            case .line: continuation.yield(.stop)
            case .nothing: break
            case .closed: keyboard = nil
            }
        }
    }
}
