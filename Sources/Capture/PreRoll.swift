// SPDX-License-Identifier: Apache-2.0

package import AudioCore
package import Glibc
package import LinuxPlatform
internal import Synchronization

/// A microphone that is open all the time, and remembers what was said last.
///
/// It has one thread, which reads the device between takes and drives each take from its opening to
/// the close, as `CardThread` does for any microphone: no frame is lost or doubled in between. What
/// is remembered of an earlier take is forgotten. A device that hangs is left to the thread, and is
/// `isOver`.
///
/// `@unchecked Sendable` because what is not locked is touched by that thread alone.
package final class PreRoll: CaptureSource, @unchecked Sendable {
    private struct Orders {
        /// First come, first served.
        var takes: [@Sendable () -> Void] = []
        var isOver = false
    }

    private enum Ending {
        case none, requested
        /// What had come before was read; the next frames are the last.
        case drained
        /// The last frames were read.
        case complete
    }

    private let device: any CaptureSource
    private let length: Duration
    private let orders = Mutex(Orders())
    private let wakeup: Wakeup
    private let hasEnded: Wakeup

    // The thread's.
    /// Nil while the device is closed.
    private var format: StreamFormat?
    private var recent = RecentSamples(capacity: 1)
    private var buffer: [Int16] = []
    private var ending = Ending.none
    private var endsBy: ContinuousClock.Instant?

    /// The pause after a device failed to open or broke.
    private static let pause = Duration.seconds(2)
    /// Without frames for this long, the last ones of a take are not awaited.
    private static let lastFrames = Duration.milliseconds(60)
    private static let closingTime = Duration.seconds(1)
    private static let framesPerRead = 4_800

    /// `length` is how much is remembered.
    package init(_ device: any CaptureSource, length: Duration) throws(SystemError) {
        (self.device, self.length) = (device, length)
        wakeup = try Wakeup()
        hasEnded = try Wakeup()
        // Nothing joins it: a driver that never answers must not keep a program from ending.
        _ = try NamedThread(name: "microphone") { [self] in run() }
    }

    // MARK: - From any thread

    package var name: String { device.name }
    package var isLive: Bool { true }
    /// Whether it takes no take any more.
    package var isOver: Bool { orders.withLock(\.isOver) }

    /// Has the thread carry out a take, behind those that came before.
    ///
    /// - Returns: false when it takes none any more.
    func perform(_ take: @escaping @Sendable () -> Void) -> Bool {
        let isTaken = orders.withLock { orders in
            if !orders.isOver { orders.takes.append(take) }
            return !orders.isOver
        }
        wakeup.signal()
        return isTaken
    }

    /// Has the thread close the device when it has ended the takes that it has; does not wait.
    func retire() {
        orders.withLock { $0.isOver = true }
        wakeup.signal()
    }

    /// Closes the device, or leaves that to the thread: to a take, or to a driver that hangs.
    package func shutDown() {
        guard !isOver else { return }
        retire()
        _ = WorkerPause.until(.now + Self.closingTime).wait(for: hasEnded.descriptor)
    }

    // MARK: - Between takes

    private func run() {
        var events: [pollfd] = []
        while true {
            let (take, isOver) = orders.withLock { orders in
                (orders.takes.isEmpty ? nil : orders.takes.removeFirst(), orders.isOver)
            }
            if let take {
                take()
            } else if isOver {
                break
            } else {
                wait(for: remember(), &events)
            }
        }
        device.close()
        hasEnded.signal()
    }

    private func remember() -> SourceWait {
        do throws(CaptureError) {
            let channels = try openDevice().channelCount
            while true {
                var room = buffer.mutableSpan
                switch try device.read(into: &room) {
                case .frames(let count):
                    recent.append(buffer.span.extracting(first: count * channels))
                // What is remembered has no holes.
                case .gap: recent.removeAll()
                case .wait(let wait): return wait
                case .end: throw .deviceSilent(device: name, seconds: 0)
                }
            }
        } catch {
            format = nil
            device.close()
            return .until(.now + Self.pause)
        }
    }

    private func openDevice() throws(CaptureError) -> StreamFormat {
        if let format { return format }
        let opened = try device.open()
        let frames = Int(length / .milliseconds(1)) * opened.sampleRate / 1_000
        recent = RecentSamples(capacity: frames * opened.channelCount)
        buffer = [Int16](repeating: 0, count: Self.framesPerRead * opened.channelCount)
        format = opened
        return opened
    }

    private func wait(for reason: SourceWait, _ events: inout [pollfd]) {
        events.removeAll(keepingCapacity: true)
        events.append(pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0))
        if reason.isForDescriptors { device.appendPollDescriptors(to: &events) }
        let pause = WorkerPause(until: reason.due)
        while unsafe poll(&events, nfds_t(events.count), pause.milliseconds) > 0 {
            if events[0].revents != 0 { return wakeup.drain() }
            if device.isReady(events.span.extracting(1...)) { return }
        }
    }

    // MARK: - In a take

    package func open() throws(CaptureError) -> StreamFormat {
        (ending, endsBy) = (.none, nil)
        return try openDevice()
    }

    package func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        let channels = format?.channelCount ?? 1
        let remembered = recent.remove(into: &frames, inMultiplesOf: channels)
        if remembered > 0 { return .frames(remembered / channels) }
        if case .complete = ending { return .end }
        let read: SourceRead
        do throws(CaptureError) {
            read = try device.read(into: &frames)
        } catch {
            format = nil
            throw error
        }
        // The device goes on when the take ends: its last frames come with the next interrupt.
        switch (ending, read) {
        case (.requested, .wait): ending = .drained
        case (.drained, .frames), (.drained, .gap): ending = .complete
        default: break
        }
        guard case .wait(let wait) = read, let endsBy else { return read }
        return endsBy > .now ? .wait(wait.limited(to: endsBy)) : .end
    }

    package var isDrained: Bool { endsBy == nil && recent.count == 0 && device.isDrained }

    package func appendPollDescriptors(to descriptors: inout [pollfd]) {
        device.appendPollDescriptors(to: &descriptors)
    }

    package func isReady(_ descriptors: Span<pollfd>) -> Bool { device.isReady(descriptors) }

    package func requestStop() {
        if endsBy == nil { (ending, endsBy) = (.requested, .now + Self.lastFrames) }
    }

    /// Ends the take; a device that works stays open.
    package func close() {
        recent.removeAll()
        if format == nil { device.close() }
    }
}

struct RecentSamples {
    private let capacity: Int
    private var samples: [Int16] = []
    /// Those before it were removed, or gave way.
    private var start = 0

    /// At least one sample.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
        samples.reserveCapacity(2 * self.capacity)
    }

    var count: Int { samples.count - start }

    mutating func removeAll() {
        samples.removeAll(keepingCapacity: true)
        start = 0
    }

    mutating func append(_ new: Span<Int16>) {
        if samples.count + new.count > 2 * capacity {
            samples.removeFirst(start)
            start = 0
        }
        unsafe new.withUnsafeBufferPointer { unsafe samples.append(contentsOf: $0) }
        start = max(start, samples.count - capacity)
    }

    /// Removes the oldest that fit, in multiples of `grain`; returns how many.
    mutating func remove(into room: inout MutableSpan<Int16>, inMultiplesOf grain: Int) -> Int {
        let taken = min(count, room.count) / grain * grain
        let oldest = samples[start..<(start + taken)]
        _ = unsafe room.withUnsafeMutableBufferPointer { room in
            unsafe room[..<taken].update(fromContentsOf: oldest)
        }
        start += taken
        return taken
    }
}
