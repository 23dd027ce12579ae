// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// A microphone that is open all the time, and remembers what was said last.
///
/// A thread of its own reads it while no take does. A take is lent the open device with what is
/// remembered, reads on where that ends, and gives it back: no frame is lost or doubled in between.
/// What is remembered of an earlier take is forgotten. From any thread.
package final class PreRoll: Sendable {
    private struct State {
        /// First come, first served.
        var waiting: [LentMicrophone] = []
        var isLent = false
        var isOver = false
        var isBroken = false
    }

    private let kept: KeptSource
    private let length: Duration
    private let state = Mutex(State())
    private let wakeup: Wakeup
    private let thread = Mutex<NamedThread?>(nil)

    /// The pause after a device failed to open or broke.
    private static let pause = Duration.seconds(2)
    private static let framesPerRead = 4_800

    /// `length` is how much is remembered.
    package init(_ source: any CaptureSource, length: Duration) throws(SystemError) {
        kept = KeptSource(source)
        self.length = length
        wakeup = try Wakeup()
        let started = try NamedThread(name: "pre-roll") { [self] in run() }
        thread.withLock { $0 = started }
    }

    package func source() throws(SystemError) -> any CaptureSource {
        try LentMicrophone(of: self, kept)
    }

    /// Closes the device, or leaves that to the take that has it.
    package func shutDown() {
        state.withLock { $0.isOver = true }
        wakeup.signal()
        thread.withLock { $0 }?.join()
    }

    // MARK: - To and from takes

    /// Asks for the device; the answer is `LentMicrophone.lend` or `refuse`.
    func lend(to take: LentMicrophone) {
        let isOver = state.withLock { state in
            if !state.isOver { state.waiting.append(take) }
            return state.isOver
        }
        if isOver { take.refuse(.deviceUnusable(device: kept.source.name, reason: "it is closed")) }
        wakeup.signal()
    }

    /// - Returns: false when the device has been lent already.
    func withdraw(_ take: LentMicrophone) -> Bool {
        state.withLock { state in
            let count = state.waiting.count
            state.waiting.removeAll { $0 === take }
            return state.waiting.count < count
        }
    }

    func takeBack(isBroken: Bool) {
        let isOver = state.withLock { state in
            (state.isLent, state.isBroken) = (false, isBroken)
            return state.isOver
        }
        if isOver { kept.source.close() }
        wakeup.signal()
    }

    // MARK: - The thread

    private func run() {
        var isOpen = false
        while true {
            let (isOver, isLent, isBroken, waiting) = state.withLock { state in
                defer { state.isBroken = false }
                return (state.isOver, state.isLent, state.isBroken, state.waiting)
            }
            if isLent {
                // A take that has the device closes it when all is over.
                if isOver { return refuseAll() }
                wait(for: nil)
                continue
            }
            if isOver || isBroken, isOpen {
                kept.source.close()
                isOpen = false
            }
            if isOver { return refuseAll() }
            do throws(CaptureError) {
                if !isOpen { try kept.open(remembering: length) }
                isOpen = true
                if let next = waiting.first {
                    if lendNow(to: next) { continue }
                } else {
                    wait(for: try remember())
                }
            } catch {
                kept.source.close()
                isOpen = false
                // One that has come meanwhile may find the device in its place again.
                for take in waiting where withdraw(take) { take.refuse(error) }
                if state.withLock(\.waiting.isEmpty) { wait(for: .until(.now + Self.pause)) }
            }
        }
    }

    private func lendNow(to take: LentMicrophone) -> Bool {
        let isStillWanted = state.withLock { state in
            guard state.waiting.first === take else { return false }
            state.waiting.removeFirst()
            state.isLent = true
            return true
        }
        if isStillWanted { take.accept(kept.format) }
        return isStillWanted
    }

    private func refuseAll() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for take in waiting {
            take.refuse(.deviceUnusable(device: kept.source.name, reason: "it is closed"))
        }
    }

    private func remember() throws(CaptureError) -> SourceWait {
        var buffer = [Int16](repeating: 0, count: Self.framesPerRead * kept.format.channelCount)
        while true {
            var room = buffer.mutableSpan
            switch try kept.source.read(into: &room) {
            case .frames(let count):
                kept.recent.append(buffer.span.extracting(first: count * kept.format.channelCount))
            // What is remembered has no holes.
            case .gap: kept.recent.removeAll()
            case .wait(let wait): return wait
            case .end: throw .deviceSilent(device: kept.source.name, seconds: 0)
            }
        }
    }

    /// Nil is until woken.
    private func wait(for reason: SourceWait?) {
        var events = [pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)]
        if reason?.isForDescriptors ?? false { kept.source.appendPollDescriptors(to: &events) }
        let pause = WorkerPause(until: reason?.due)
        while unsafe poll(&events, nfds_t(events.count), pause.milliseconds) > 0 {
            if events[0].revents != 0 { return wakeup.drain() }
            if kept.source.isReady(events.span.extracting(1..<events.count)) { return }
        }
    }
}

/// The device and what is remembered, used by one thread at a time: the pre-roll's, or the take's
/// that borrowed it.
///
/// `@unchecked Sendable`: handed over under the lock of `PreRoll.State`.
final class KeptSource: @unchecked Sendable {
    let source: any CaptureSource
    var format = StreamFormat.speech
    var recent = RecentSamples(capacity: 1)

    init(_ source: any CaptureSource) { self.source = source }

    /// Opens the device; nothing is remembered.
    func open(remembering length: Duration) throws(CaptureError) {
        format = try source.open()
        let frames = Int(length / .milliseconds(1)) * format.sampleRate / 1_000
        recent = RecentSamples(capacity: frames * format.channelCount)
    }
}

struct RecentSamples {
    private var samples: [Int16]
    private var start = 0
    private(set) var count = 0

    /// At least one sample.
    init(capacity: Int) { samples = [Int16](repeating: 0, count: max(1, capacity)) }

    mutating func removeAll() { (start, count) = (0, 0) }

    mutating func append(_ new: Span<Int16>) {
        for index in new.indices {
            samples[(start + count) % samples.count] = new[index]
            if count < samples.count { count += 1 } else { start = (start + 1) % samples.count }
        }
    }

    /// Removes the oldest that fit, in multiples of `grain`; returns how many.
    mutating func remove(into room: inout MutableSpan<Int16>, inMultiplesOf grain: Int) -> Int {
        let taken = min(count, room.count) / grain * grain
        for index in 0..<taken { room[index] = samples[(start + index) % samples.count] }
        start = (start + taken) % samples.count
        count -= taken
        return taken
    }
}
