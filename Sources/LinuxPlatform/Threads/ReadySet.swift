// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Descriptors of which those that are ready are asked for; an epoll(7) instance.
///
/// Its calls cost the same for ten descriptors and for a thousand. Used by one thread.
package final class ReadySet {
    /// Not an `OptionSet`, whose functions are generic: a turn of a live take calls many.
    package struct Events: Equatable, Sendable {
        var bits: UInt32

        package static var none: Events { Events(bits: 0) }
        package static var input: Events { Events(bits: EPOLLIN.rawValue) }
        package static var output: Events { Events(bits: EPOLLOUT.rawValue) }
        /// An error or the end of both sides; told of every descriptor.
        package static var broken: Events { Events(bits: EPOLLERR.rawValue | EPOLLHUP.rawValue) }
        /// Tells of each event once instead of as often as it is asked.
        package static var edge: Events { Events(bits: EPOLLET.rawValue) }

        package static func | (one: Events, other: Events) -> Events {
            Events(bits: one.bits | other.bits)
        }

        /// Whether one of them is one of the others.
        package func meets(_ others: Events) -> Bool { bits & others.bits != 0 }
    }

    private let epoll: OwnedDescriptor
    private var watched: [Int32: Events] = [:]
    private var found = [UInt](repeating: 0, count: 128)

    package init() throws(SystemError) {
        epoll = try OwnedDescriptor(of: "epoll_create") { utter_epoll() }
    }

    /// `none` forgets the descriptor, which must be done before it is closed.
    package func watch(_ number: Int32, for events: Events) {
        guard watched[number] ?? .none != events else { return }
        watched[number] = events == .none ? nil : events
        if events == .none {
            _ = utter_epoll_set(epoll.number, EPOLL_CTL_DEL, number, 0)
        } else if utter_epoll_set(epoll.number, EPOLL_CTL_MOD, number, events.bits) != 0 {
            _ = utter_epoll_set(epoll.number, EPOLL_CTL_ADD, number, events.bits)
        }
    }

    /// Waits until one is ready or for the time, -1 for ever, and tells of those that are; may return
    /// early, with none.
    package func wait(
        milliseconds: Int32, _ tell: (_ number: Int32, _ events: Events) -> Void
    ) {
        let count = unsafe utter_epoll_wait(epoll.number, &found, milliseconds)
        for one in found[..<max(0, Int(count))] {
            tell(Int32(truncatingIfNeeded: one), Events(bits: UInt32(one >> 32)))
        }
    }
}
