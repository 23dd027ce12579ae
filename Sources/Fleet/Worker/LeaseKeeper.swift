// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// Extends the leases of what a worker works on, on a thread of its own that waits for nothing else.
final class LeaseKeeper: Sendable {
    private struct State {
        var held: [ObjectIdentifier: any Delivery] = [:]
        var extended = ContinuousClock.now
        var isOver = false
    }

    private let lease: Duration
    private let numbers: FleetNumbers
    private let news: Wakeup
    private let state = Mutex(State())

    init(lease: Duration, numbers: FleetNumbers) throws(SystemError) {
        (self.lease, self.numbers) = (lease, numbers)
        news = try Wakeup(isPolled: false)
        _ = try NamedThread(name: "lease") { [self] in run() }
    }

    func add(_ delivery: any Delivery) {
        state.withLock { state in
            if state.held.isEmpty { state.extended = .now }
            state.held[ObjectIdentifier(delivery)] = delivery
        }
        news.signal()
    }

    func remove(_ delivery: any Delivery) {
        state.withLock { $0.held[ObjectIdentifier(delivery)] = nil }
    }

    func shutDown() {
        state.withLock { $0.isOver = true }
        news.signal()
    }

    private func run() {
        while true {
            let (held, next) = state.withLock { state -> ([any Delivery]?, WorkerPause) in
                if state.isOver { return (nil, .goesOn) }
                // Without work it is not woken.
                guard !state.held.isEmpty else { return ([], .untilWoken) }
                let due = state.extended + lease / 3
                guard due <= .now else { return ([], .until(due)) }
                // The process was stopped, or the machine slept: others have what it had.
                if state.extended + lease < .now {
                    numbers.change { $0.leasesLost += state.held.count }
                }
                state.extended = .now
                return (Array(state.held.values), .until(.now + lease / 3))
            }
            guard let held else { return }
            for delivery in held { delivery.extend() }
            news.wait(next)
        }
    }
}
