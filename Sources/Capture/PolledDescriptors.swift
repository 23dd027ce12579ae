// SPDX-License-Identifier: Apache-2.0

package import Glibc
package import LinuxPlatform

/// Descriptors for which a thread waits in one `poll(2)`, and what has come of them.
public struct PolledDescriptors: Sendable {
    package private(set) var descriptors: [pollfd] = []

    /// Nothing is waited for.
    public init() {}

    /// Has the thread woken when a descriptor can be read, is at its end or has an error.
    ///
    /// Does not allocate where there is room for it.
    public mutating func add(_ descriptor: Int32) {
        descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }

    /// Adds what a library of C fills in; `fill` gives the number of those that it has filled.
    package mutating func add(_ count: Int, _ fill: (UnsafeMutablePointer<pollfd>) -> Int) {
        let first = descriptors.count
        descriptors.append(contentsOf: repeatElement(pollfd(), count: count))
        let filled = unsafe descriptors.withUnsafeMutableBufferPointer { all in
            unsafe all.baseAddress.map { unsafe fill($0 + first) } ?? 0
        }
        descriptors.removeLast(count - max(0, min(count, filled)))
    }

    package var count: Int { descriptors.count }

    /// Whether the last wait has brought something for a descriptor, by its place.
    package func hasEvent(_ place: Int) -> Bool { descriptors[place].revents != 0 }

    /// Keeps the room.
    package mutating func clear() { descriptors.removeAll(keepingCapacity: true) }

    package mutating func reserve(_ count: Int) { descriptors.reserveCapacity(count) }

    /// Waits until a descriptor has something; false after the pause, and after a signal.
    package mutating func wait(_ pause: WorkerPause) -> Bool {
        unsafe descriptors.withUnsafeMutableBufferPointer { all in
            unsafe poll(all.baseAddress, nfds_t(all.count), pause.milliseconds)
        } > 0
    }
}
