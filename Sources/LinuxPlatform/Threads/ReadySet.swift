// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Descriptors of which those that are ready are asked for; an epoll(7) instance.
///
/// Its calls cost the same for ten descriptors and for a thousand. Used by one thread.
package final class ReadySet {
    package struct Events: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let input = Events(rawValue: EPOLLIN.rawValue)
        package static let output = Events(rawValue: EPOLLOUT.rawValue)
        /// An error or the end of both sides; told of every descriptor.
        package static let broken = Events(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
        /// Tells of each event once instead of as often as it is asked.
        package static let edge = Events(rawValue: EPOLLET.rawValue)
    }

    private let epoll: OwnedDescriptor
    private var watched: [Int32: Events] = [:]
    private var found = [UInt](repeating: 0, count: 128)

    package init() throws(SystemError) {
        let number = utter_epoll()
        guard number >= 0 else { throw SystemError.last("epoll_create") }
        epoll = OwnedDescriptor(taking: number)
    }

    /// Empty forgets the descriptor, which must be done before it is closed.
    package func watch(_ number: Int32, for events: Events) {
        guard watched[number, default: []] != events else { return }
        watched[number] = events.isEmpty ? nil : events
        if events.isEmpty {
            _ = utter_epoll_set(epoll.number, EPOLL_CTL_DEL, number, 0)
        } else if utter_epoll_set(epoll.number, EPOLL_CTL_MOD, number, events.rawValue) != 0 {
            _ = utter_epoll_set(epoll.number, EPOLL_CTL_ADD, number, events.rawValue)
        }
    }

    /// Waits until one is ready or for the time, -1 for ever; may return early, with none.
    package func wait(milliseconds: Int32) -> [(number: Int32, events: Events)] {
        let count = unsafe utter_epoll_wait(epoll.number, &found, milliseconds)
        return found.prefix(max(0, Int(count))).map {
            (Int32(truncatingIfNeeded: $0), Events(rawValue: UInt32($0 >> 32)))
        }
    }
}
