// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// One connection of a `FaultProxy`; made and used on its own thread.
final class FaultProxyConnection {
    /// How long a turn waits at most: this is how late a cut or the end of a stall is seen.
    private static let turn = Duration.milliseconds(5)

    private struct Way {
        let source: Int32
        let target: Int32
        var faults: [LinkFault]
        var passed = 0
        /// Whether the source has ended, or what it says is dropped.
        var isOver = false
    }

    private let core: FaultProxyCore
    private let number: Int
    private let plan: LinkPlan
    private let cuts: Int
    private let client: OwnedDescriptor
    private let service: OwnedDescriptor
    private var ways: [Way] = []
    private var stalledUntil = MonotonicTime.now
    private var isBlackHole = false
    /// Whether the answer that comes next is the one that does not pass.
    private var holdsAnswer = false
    private var isDropping = false
    private let began = MonotonicTime.now
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    init(core: FaultProxyCore, client: Int32, number: Int, plan: LinkPlan, cuts: Int) {
        self.core = core
        self.number = number
        self.plan = plan
        self.cuts = cuts
        self.client = OwnedDescriptor(taking: client)
        service = OwnedDescriptor(
            taking: socket(
                AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
    }

    /// Forwards until both directions are over, or the connection is harmed to death.
    func run() {
        for descriptor in [client.number, service.number] {
            var on: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
        }
        ways = [
            Way(
                source: client.number, target: service.number,
                faults: plan.faults.filter { $0.direction == .toService }),
            Way(
                source: service.number, target: client.number,
                faults: plan.faults.filter { $0.direction == .toClient }),
        ]
        guard waits(for: plan.delay) else { return }
        let address = LoopbackAddress(port: core.service)
        guard address.withPointer({ connect(service.number, $0, $1) }) == 0 else {
            return reset()
        }
        while !ways.allSatisfy(\.isOver) {
            if core.state.look({ $0.cuts }) != cuts { return reset() }
            guard step() else { return }
        }
    }

    /// Waits; false when the proxy is stopped.
    private func waits(for duration: Duration) -> Bool {
        guard duration > .zero else { return true }
        return !pollReadable([core.stop.descriptor], until: .now + duration)[0]
    }

    /// Moves what can be moved; false when the connection is over.
    private func step() -> Bool {
        for index in ways.indices where strikes(index, isReadable: false) {
            if !strike(index) { return false }
        }
        let isStill = isBlackHole || MonotonicTime.now < stalledUntil
        let room = allowance
        let waits = ways.indices.map { index in
            let isWanted = !isStill && !ways[index].isOver && (index == 1 || room > 0)
            return pollfd(
                fd: isWanted ? ways[index].source : -1, events: Int16(POLLIN), revents: 0)
        }
        let stop = pollfd(fd: core.stop.descriptor, events: Int16(POLLIN), revents: 0)
        let events = pollEvents(waits + [stop], until: .now + Self.turn)
        if events[2] != 0 { return false }
        for index in ways.indices where events[index] != 0 {
            if index == 1, holdsAnswer {
                hold()
                return true
            }
            if strikes(index, isReadable: true) {
                guard strike(index) else { return false }
            } else {
                guard forward(index, upTo: index == 0 ? room : .max) else { return false }
            }
        }
        return true
    }

    /// How many bytes of the request may pass now.
    private var allowance: Int {
        guard let rate = plan.bytesPerSecond else { return .max }
        let seconds = (MonotonicTime.now - began) / .seconds(1)
        return Int(Double(rate) * seconds) - ways[0].passed
    }

    /// Whether the next fault of a direction is due.
    private func strikes(_ index: Int, isReadable: Bool) -> Bool {
        guard let fault = ways[index].faults.first, ways[index].passed >= fault.offset else {
            return false
        }
        return isReadable || fault.direction == .toService
    }

    /// Does what the next fault of a direction says; false when that ends the connection.
    private func strike(_ index: Int) -> Bool {
        let fault = ways[index].faults.removeFirst()
        switch fault.kind {
        case .reset:
            reset()
            return false
        case .finish:
            isDropping = true
            for way in ways { shutdown(way.target, Int32(SHUT_WR)) }
        case .halfClose:
            shutdown(ways[index].target, Int32(SHUT_WR))
            ways[index].isOver = true
        case .stall(let duration): stalledUntil = .now + duration
        case .blackHole: isBlackHole = true
        }
        return true
    }

    /// Moves bytes one way, up to the next fault; false when the connection is over.
    private func forward(_ index: Int, upTo room: Int) -> Bool {
        let way = ways[index]
        let free = min(way.faults.first.map { $0.offset - way.passed } ?? .max, room)
        let count = recv(way.source, &buffer, min(buffer.count, free), Int32(MSG_DONTWAIT))
        let code = errno
        if count < 0 {
            if code == EAGAIN || code == EINTR { return true }
            reset()
            return false
        }
        if count == 0 {
            ways[index].isOver = true
            if !isDropping { shutdown(way.target, Int32(SHUT_WR)) }
            return true
        }
        if isDropping { return true }
        if index == 0, let held = plan.hold, held.isBegun(by: buffer[..<count]) {
            holdsAnswer = held.direction == .toClient
            if !holdsAnswer {
                hold()
                return true
            }
        }
        guard
            sendAll(
                buffer[..<count], to: way.target, stop: core.stop.descriptor,
                until: .now + .patience)
        else {
            reset()
            return false
        }
        ways[index].passed += count
        let passed = ways.map(\.passed)
        core.state.update { [number] in $0.passed[number] = passed }
        return true
    }

    /// Lets nothing pass any more, and says so.
    private func hold() {
        isBlackHole = true
        core.state.update { $0.holds += 1 }
    }

    /// Lets both sides find their connection reset; their descriptors are closed with us.
    private func reset() {
        for descriptor in [client.number, service.number] { resetWhenClosed(descriptor) }
    }
}
