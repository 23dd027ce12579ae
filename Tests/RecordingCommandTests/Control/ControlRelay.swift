// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport

@testable import LinuxPlatform

/// Carries connections from one socket to another, as `ssh -R` does between two machines.
final class ControlRelay: Sendable {
    private let stop: Wakeup
    private let change: Wakeup
    private let isFrozen = Observed(false)

    /// Begins to carry from a socket that it makes to the one to which it leads.
    init(from here: String, to there: String) throws {
        let stop = try Wakeup()
        let change = try Wakeup()
        (self.stop, self.change) = (stop, change)
        let listener = RelayEnd(try LocalSocket.listen(at: here))
        _ = try NamedThread(name: "test-relay") { [isFrozen] in
            var pairs: [(RelayEnd, RelayEnd)] = []
            // Clients that are not led on yet.
            var waiting: [RelayEnd] = []
            while true {
                let carries = !isFrozen.value
                if carries {
                    for client in waiting {
                        guard
                            // Without a program there, ssh closes the connection too.
                            let target = try? LocalSocket.connect(to: there, within: .seconds(5))
                        else { continue }
                        pairs.append((client, RelayEnd(target)))
                    }
                    waiting = []
                }
                var events = [stop.descriptor, change.descriptor, listener.number].map {
                    pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
                }
                let numbers = pairs.flatMap { carries ? [$0.0.polled, $0.1.polled] : [] }
                events += numbers.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                poll(&events, nfds_t(events.count), -1)
                if events[0].revents != 0 { return }
                if events[1].revents != 0 { change.drain() }
                for index in pairs.indices where carries {
                    let (one, other) = pairs[index]
                    if events[3 + 2 * index].revents != 0 { one.carry(to: other) }
                    if events[4 + 2 * index].revents != 0 { other.carry(to: one) }
                }
                pairs.removeAll { $0.0.isOver && $0.1.isOver }
                if events[2].revents != 0,
                    // One that has gone again is no connection.
                    let client = try? LocalSocket.accept(from: listener.number)
                {
                    waiting.append(RelayEnd(client))
                }
            }
        }
    }

    /// Carries nothing until it thaws; connections come about all the same.
    func freeze() { set(true) }

    /// Carries on, first what came meanwhile.
    func thaw() { set(false) }

    private func set(_ value: Bool) {
        isFrozen.update { $0 = value }
        change.signal()
    }

    deinit { stop.signal() }
}

/// One end of a connection that is carried.
private final class RelayEnd: Sendable {
    private let socket: OwnedDescriptor
    private let hasEnded = Atomic(false)

    init(_ socket: consuming OwnedDescriptor) { self.socket = socket }

    var isOver: Bool { hasEnded.load(ordering: .relaxed) }
    var number: Int32 { socket.number }
    var polled: Int32 { isOver ? -1 : socket.number }

    func carry(to other: RelayEnd) {
        // A connection that broke has ended.
        guard let bytes = try? LocalSocket.receive(from: number) ?? nil else {
            end(other, SHUT_RDWR)
            return
        }
        if bytes.isEmpty { end(other, SHUT_WR) }
        // One that has gone gets nothing.
        _ = try? LocalSocket.send(bytes[...], to: other.number)
    }

    private func end(_ other: RelayEnd, _ way: Int) {
        hasEnded.store(true, ordering: .relaxed)
        shutdown(other.number, Int32(way))
    }
}
