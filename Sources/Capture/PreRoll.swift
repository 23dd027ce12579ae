// SPDX-License-Identifier: Apache-2.0

package import AudioCore
package import LinuxPlatform
internal import Synchronization

/// A source that goes on behind a stop, as a microphone does that stays open.
package protocol KeptSource: CaptureSource {
    /// Takes the request to stop back: `read` goes on behind the last frame that it gave.
    func takeBackStop()
}

/// A microphone that is open all the time, and remembers what was said last.
///
/// It has one thread, which reads the device between takes and drives each take from its opening to
/// the close, as `CardThread` does for any microphone: no frame is lost or doubled in between. The
/// sound of an earlier take is forgotten. A device that hangs is left to the thread, and is
/// `isOver`.
/// The lock of `kept` is for the compiler: that thread alone takes it, and may hang in it.
package final class PreRoll: CaptureSource, Sendable {
    private struct Orders {
        /// First come, first served.
        var takes: [@Sendable () -> Void] = []
        var isOver = false
    }

    package let name: String
    private let orders = Mutex(Orders())
    private let kept: Mutex<KeptMicrophone>
    private let wakeup: Wakeup
    private let hasEnded: Wakeup
    private static let closingTime = Duration.seconds(1)

    /// `length` is how much is remembered.
    package init(_ device: sending any KeptSource, length: Duration) throws(SystemError) {
        name = device.name
        kept = Mutex(KeptMicrophone(device, length: length))
        wakeup = try Wakeup()
        hasEnded = try Wakeup(isPolled: false)
        // Nothing joins it: a driver that never answers must not keep a program from ending.
        _ = try NamedThread(name: "microphone") { [self] in run() }
    }

    // MARK: - From any thread

    package var isLive: Bool { true }
    /// Whether it takes no take any more.
    package var isOver: Bool { orders.withLock(\.isOver) }

    /// Has the thread carry out a take behind those before it; false when it takes none any more.
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
        hasEnded.wait(.until(.now + Self.closingTime))
    }

    // MARK: - On the thread

    private func run() {
        var events = PolledDescriptors()
        while true {
            let (take, isOver) = orders.withLock { orders in
                (orders.takes.isEmpty ? nil : orders.takes.removeFirst(), orders.isOver)
            }
            if let take {
                take()
            } else if isOver {
                break
            } else {
                wait(for: kept.withLock { $0.remember() }, &events)
            }
        }
        kept.withLock { $0.device.close() }
        hasEnded.signal()
    }

    private func wait(for reason: SourceWait, _ events: inout PolledDescriptors) {
        events.clear()
        events.add(wakeup.descriptor)
        if reason.isForDescriptors { addDescriptors(to: &events) }
        while events.wait(WorkerPause(until: reason.due)) {
            if events.hasEvent(0) { return wakeup.drain() }
            if isReady(events) { return }
        }
    }

    package func open() throws(CaptureError) -> StreamFormat {
        try kept.withLock { kept throws(CaptureError) in try kept.open() }
    }

    package func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        try kept.withLock { kept throws(CaptureError) in try kept.read(into: &frames) }
    }

    package var isDrained: Bool { kept.withLock { $0.recent.isEmpty && $0.device.isDrained } }

    package func addDescriptors(to events: inout PolledDescriptors) {
        kept.withLock { $0.device.addDescriptors(to: &events) }
    }

    package func isReady(_ events: PolledDescriptors) -> Bool {
        kept.withLock { $0.device.isReady(events) }
    }

    package func requestStop() { kept.withLock { $0.device.requestStop() } }

    /// Closes the device, which the end of the take opens again.
    package func pause() { kept.withLock { $0.pause() } }

    /// Ends the take; a device that works stays open.
    package func close() { kept.withLock { $0.endTake() } }
}

/// The device of a `PreRoll`, and the end of what it has heard.
private final class KeptMicrophone {
    let device: any KeptSource
    private let length: Duration
    /// Absent while the device is closed.
    private var format: StreamFormat?
    /// Interleaved samples, oldest first: the last `capacity` are remembered.
    private(set) var recent: [Int16] = []
    private var capacity = 0
    private var buffer: [Int16] = []

    /// The pause after a device failed to open or broke.
    private static let pause = Duration.seconds(2)
    private static let framesPerRead = 4_800

    init(_ device: any KeptSource, length: Duration) {
        (self.device, self.length) = (device, length)
    }

    /// Between takes: reads what is there, and says what to wait for.
    func remember() -> SourceWait {
        do throws(CaptureError) {
            let channels = try open().channelCount
            while true {
                var room = buffer.mutableSpan
                switch try device.read(into: &room) {
                case .frames(let count):
                    recent += buffer[..<(count * channels)]
                    // To forget moves what stays, so it is not done each time.
                    if recent.count > 2 * capacity { forgetOldest() }
                // The remembered sound has no holes.
                case .gap: recent.removeAll(keepingCapacity: true)
                case .wait(let wait): return wait
                case .end: throw .deviceSilent(device: device.name, seconds: 0)
                }
            }
        } catch {
            format = nil
            device.close()
            return .until(.now + Self.pause)
        }
    }

    private func forgetOldest() { recent.removeFirst(max(0, recent.count - capacity)) }

    func open() throws(CaptureError) -> StreamFormat {
        if let format { return format }
        let opened = try device.open()
        capacity = opened.frames(in: length) * opened.channelCount
        recent.removeAll(keepingCapacity: true)
        recent.reserveCapacity(2 * capacity + Self.framesPerRead * opened.channelCount)
        buffer = [Int16](repeating: 0, count: Self.framesPerRead * opened.channelCount)
        format = opened
        return opened
    }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        let channels = format?.channelCount ?? 1
        forgetOldest()
        let count = min(recent.count, frames.count) / channels * channels
        if count > 0 {
            for index in 0..<count { frames[index] = recent[index] }
            recent.removeFirst(count)
            return .frames(count / channels)
        }
        do throws(CaptureError) {
            return try device.read(into: &frames)
        } catch {
            format = nil
            throw error
        }
    }

    func pause() {
        format = nil
        device.close()
    }

    func endTake() {
        recent.removeAll(keepingCapacity: true)
        if format == nil { device.close() } else { device.takeBackStop() }
    }
}
