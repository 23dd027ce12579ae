// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// A live source that a thread of its own drives: a driver that blocks or spins holds up no take,
/// neither another one nor the end of its own.
///
/// A sound card's plug-in is foreign code, and may break the promise that `CaptureSource` makes.
/// The thread carries what it reads into a ring, without locks; a driver that has not answered for
/// `patience` is given up, and its thread is left to itself.
///
/// `@unchecked Sendable` because what is neither atomic nor locked belongs to one thread: the
/// capture thread, or the source's own.
final class ThreadedSource: CaptureSource, @unchecked Sendable {
    /// A gap or the end, and its place among the bytes of the frames.
    private struct Notice {
        var position: Int
        /// Lost frames, or nil for the end.
        var content: Result<Int?, CaptureError>
    }

    private let source: any CaptureSource
    private let patience: Duration
    private let news: Wakeup
    private let orders: Wakeup

    private let notices = Mutex<[Notice]>([])
    private let noticeCount = Atomic(0)
    /// Bytes ever written to the ring.
    private let written = Atomic(0)
    /// Twice the number of calls, plus 1 during one.
    private let calls = Atomic(0)
    private let isStopped = Atomic(false)
    private let isClosed = Atomic(false)
    private let closingTime: Duration
    /// The deadline for closing the device.
    private var closesUntil: ContinuousClock.Instant?
    private let isOver = Atomic(false)

    // The thread that opens the source, and after it the capture thread.
    private var format = StreamFormat.speech
    private var openedDetails: SourceDetails?
    private var consumer: ByteRing.Consumer?
    private var consumed = 0
    private var isDriven = false
    /// The call seen by the last look.
    private var watched = 0
    /// Looks in a row that saw the same call.
    private var looks = 0
    private var nextLook = ContinuousClock.now

    // The source's own thread.
    private var producer: ByteRing.Producer?
    private var call = 0

    /// Looks in a row at one call after which the driver hangs; looks are counted, not time: the
    /// program may have been stopped.
    private static let looksOfHang = 10
    /// What the ring holds while the capture thread is late.
    private static let ringSeconds = 4
    private static let pause = Duration.milliseconds(10)

    /// The source is not open yet; `patience` and `closing` bound the driver's calls.
    init(
        _ source: any CaptureSource, patience: Duration = .seconds(5),
        closing: Duration = .seconds(1)
    ) throws(SystemError) {
        self.source = source
        self.patience = patience
        closingTime = closing
        news = try Wakeup()
        orders = try Wakeup()
    }

    var name: String { source.name }
    var isLive: Bool { source.isLive }
    var details: SourceDetails? { openedDetails }

    func open() throws(CaptureError) -> StreamFormat {
        format = try source.open()
        openedDetails = source.details
        let ring = ByteRing(minimumCapacity: format.sampleRate * bytesPerFrame * Self.ringSeconds)
        producer = ring.takeProducer()
        consumer = ring.takeConsumer()
        do throws(SystemError) {
            // Nothing joins it: a driver that never answers must not keep a program from ending.
            _ = try NamedThread(name: "microphone") { [self] in drive() }
        } catch {
            source.close()
            throw .limitReached(name: name, error)
        }
        isDriven = true
        return format
    }

    private var bytesPerFrame: Int { 2 * format.channelCount }

    // MARK: - The capture thread

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        if let next = try next(into: &frames) { return next }
        // What comes after the second look wakes this thread again.
        news.drain()
        if let next = try next(into: &frames) { return next }
        return try rest()
    }

    private func next(
        into frames: inout MutableSpan<Int16>
    ) throws(CaptureError) -> SourceRead? {
        // Before the notices: one that comes after this look stands behind these bytes.
        let stored = written.load(ordering: .acquiring)
        let notice = noticeCount.load(ordering: .acquiring) > 0 ? notices.withLock(\.first) : nil
        let end = min(stored, notice?.position ?? stored)
        let count = min((end - consumed) / bytesPerFrame, frames.count / format.channelCount)
        if count > 0 {
            take(count * format.channelCount, into: &frames)
            return .frames(count)
        }
        guard let notice, notice.position == consumed else { return nil }
        notices.withLock { _ = $0.removeFirst() }
        noticeCount.subtract(1, ordering: .relaxed)
        return try notice.content.get().map { .gap(frames: $0) } ?? .end
    }

    private func take(_ count: Int, into frames: inout MutableSpan<Int16>) {
        var index = 0
        while index < count {
            // What is stored may stand in two pieces, of whole samples each.
            consumed +=
                consumer?.consume { bytes in
                    let samples = min(bytes.count / 2, count - index)
                    for sample in 0..<samples {
                        let low = UInt16(bytes[2 * sample])
                        let high = UInt16(bytes[2 * sample + 1])
                        frames[index + sample] = Int16(bitPattern: low | high << 8)
                    }
                    index += samples
                    return 2 * samples
                } ?? 0
        }
    }

    private func rest() throws(CaptureError) -> SourceRead {
        look()
        if looks >= Self.looksOfHang {
            throw .deviceHangs(device: name, seconds: Int(patience / .seconds(1)))
        }
        return .wait(.forDescriptorsOrUntil(nextLook))
    }

    private func look() {
        let (current, now) = (calls.load(ordering: .relaxed), ContinuousClock.now)
        if current != watched || current.isMultiple(of: 2) {
            (watched, looks) = (current, 0)
        } else if now >= nextLook {
            looks += 1
        } else {
            return
        }
        nextLook = now + patience / Self.looksOfHang
    }

    func appendPollDescriptors(to descriptors: inout [pollfd]) {
        descriptors.append(pollfd(fd: news.descriptor, events: Int16(POLLIN), revents: 0))
    }

    func requestStop() {
        isStopped.store(true, ordering: .releasing)
        orders.signal()
    }

    func close() {
        guard isDriven else { return source.close() }
        guard closesUntil == nil else { return }
        closesUntil = .now + closingTime
        isClosed.store(true, ordering: .releasing)
        orders.signal()
    }

    /// Waits for the device, which the next take may want, unless its driver hangs.
    var closing: SourceWait? {
        news.drain()
        // acquiring: partner of the release in `drive`.
        guard let closesUntil, !isOver.load(ordering: .acquiring), closesUntil > .now,
            looks < Self.looksOfHang / 5
        else { return nil }
        return .forDescriptorsOrUntil(closesUntil)
    }

    // MARK: - The source's thread

    private func drive() {
        var buffer = [Int16](repeating: 0, count: format.sampleRate / 10 * format.channelCount)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * buffer.count)
        var events: [pollfd] = []
        events.reserveCapacity(8)
        var isStopping = false
        // acquiring: partner of the releases in `close` and `requestStop`.
        while !isClosed.load(ordering: .acquiring) {
            enter()
            if !isStopping, isStopped.load(ordering: .acquiring) {
                isStopping = true
                source.requestStop()
            }
            do throws(CaptureError) {
                var room = buffer.mutableSpan
                switch try source.read(into: &room) {
                case .frames(let count):
                    deliver(buffer.span.extracting(first: count * format.channelCount), &bytes)
                    continue
                case .gap(let frames):
                    post(.success(frames))
                    continue
                case .wait(let wait):
                    rest(wait, &events)
                    continue
                case .end: post(.success(nil))
                }
            } catch {
                post(.failure(error))
            }
            break
        }
        enter()
        source.close()
        leave()
        isOver.store(true, ordering: .releasing)
        news.signal()
    }

    private func enter() {
        call += call.isMultiple(of: 2) ? 1 : 2
        calls.store(call, ordering: .relaxed)
    }

    private func leave() {
        guard !call.isMultiple(of: 2) else { return }
        call += 1
        calls.store(call, ordering: .relaxed)
    }

    private func deliver(_ samples: Span<Int16>, _ bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        for index in samples.indices {
            let sample = UInt16(bitPattern: samples[index])
            bytes.append(UInt8(truncatingIfNeeded: sample))
            bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
        }
        leave()
        // The device counts what is lost meanwhile.
        while producer?.write(bytes.span) == false, !isClosed.load(ordering: .acquiring) {
            if WorkerPause.until(.now + Self.pause).wait(for: orders.descriptor) { orders.drain() }
        }
        // releasing: partner of the acquire in `read`.
        written.add(bytes.count, ordering: .releasing)
        news.signal()
    }

    private func post(_ content: Result<Int?, CaptureError>) {
        let notice = Notice(position: written.load(ordering: .relaxed), content: content)
        notices.withLock { $0.append(notice) }
        // releasing: partner of the acquire in `read`.
        noticeCount.add(1, ordering: .releasing)
        news.signal()
    }

    private func rest(_ wait: SourceWait, _ events: inout [pollfd]) {
        events.removeAll(keepingCapacity: true)
        events.append(pollfd(fd: orders.descriptor, events: Int16(POLLIN), revents: 0))
        var due: ContinuousClock.Instant?
        switch wait {
        case .until(let instant): due = instant
        case .forDescriptors: source.appendPollDescriptors(to: &events)
        case .forDescriptorsOrUntil(let instant):
            source.appendPollDescriptors(to: &events)
            due = instant
        }
        leave()
        while due.map({ $0 > .now }) ?? true {
            let pause = WorkerPause(until: due).milliseconds
            guard unsafe poll(&events, nfds_t(events.count), pause) > 0 else { continue }
            if events[0].revents != 0 { return orders.drain() }
            enter()
            if source.isReady(events.span.extracting(1..<events.count)) { return }
            leave()
        }
    }
}

/// Gives a live source a thread of its own; other sources stay as they are.
package func driven(_ source: any CaptureSource) -> any CaptureSource {
    // Without a descriptor for it the capture thread drives it as it does files.
    source.isLive ? (try? ThreadedSource(source)) ?? source : source
}
