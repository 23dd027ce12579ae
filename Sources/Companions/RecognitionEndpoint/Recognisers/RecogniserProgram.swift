// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Why a program is used no longer; it is killed and replaced.
struct RecogniserFault: Error, Equatable {
    let reason: String
    var hint: String?
}

/// A running program, which takes one recording after another; used on one thread.
///
/// Every wait has an end, and so has what is kept: 64 KiB and a piece more for the program to read,
/// one line that it writes, and the end of what it complains of. Its group is killed when this goes.
final class RecogniserProgram {
    private enum Phase {
        case ready, recording
        /// It was told that the recording is over, and is to say that it is ready.
        case ending
    }

    /// The program's description of itself.
    private(set) var ready = RecogniserLine.Ready()
    private var phase = Phase.ending

    private let recogniser: Recogniser
    private var process: ChildProcess
    private var input: OwnedDescriptor?
    private let output, complaints: OwnedDescriptor
    private var unsent: [UInt8] = []
    private var unread: [UInt8] = []
    private var complaint: [UInt8] = []
    private var isComplaining = true
    /// When the program last took or said something.
    private var lastSign = ContinuousClock.now
    /// How long its start took.
    private var startTime = farewell

    private static let backlogLimit = 65_536
    private static let lineLimit = 1 << 20
    private static let complaintLimit = 2_048
    /// How long a program may take to end by itself.
    static let farewell = Duration.seconds(1)

    /// No core dumps, which would have the recording in them; at most so much memory; and an end with
    /// the thread that starts it, which `posix_spawn(3)` cannot ask for.
    private static let launch = """
        ulimit -c 0; [ -z "$1" ] || ulimit -d "$1" || exit 127; shift
        exec setpriv --pdeathsig KILL "$@"
        """

    /// Starts the program; the kernel kills it when the calling thread ends.
    init(_ recogniser: Recogniser) throws(RecogniserFault) {
        self.recogniser = recogniser
        let limit = recogniser.memoryLimit.map { String(max(1, $0 >> 10)) } ?? ""
        do throws(SystemError) {
            let sound = try makePipe()
            let soundEnd = OwnedDescriptor(taking: sound.reading)
            input = OwnedDescriptor(taking: sound.writing)
            let lines = try makePipe()
            let linesEnd = OwnedDescriptor(taking: lines.writing)
            output = OwnedDescriptor(taking: lines.reading)
            let words = try makePipe()
            let wordsEnd = OwnedDescriptor(taking: words.writing)
            complaints = OwnedDescriptor(taking: words.reading)
            for number in [sound.writing, lines.reading, words.reading] {
                _ = fcntl(number, F_SETFL, O_NONBLOCK)
            }
            process = try ChildProcess(
                "/bin/sh", ["sh", "-c", Self.launch, "sh", limit] + recogniser.words,
                environment: recogniser.environment, input: .given(soundEnd),
                output: .given(linesEnd), error: .given(wordsEnd))
        } catch {
            throw RecogniserFault(reason: "it cannot be started: \(error.description)")
        }
    }

    // MARK: - What it is told

    func begin(_ hints: SpeechHints) {
        phase = .recording
        unsent += RecogniserCommand(begin: .init(hints)).line
    }

    func send(_ samples: [Int16]) {
        guard !samples.isEmpty else { return }
        unsent += RecogniserCommand(audio: samples.count * 2).line
        for sample in samples {
            unsent.append(UInt8(truncatingIfNeeded: sample))
            unsent.append(UInt8(truncatingIfNeeded: sample >> 8))
        }
    }

    func finish() {
        phase = .ending
        unsent += RecogniserCommand(end: true).line
    }

    /// Gives the recording up; without effect when it has not begun, or was told its end.
    func cancel() {
        guard phase == .recording else { return }
        phase = .ending
        unsent += RecogniserCommand(cancel: true).line
    }

    /// Whether it is to be sent no more sound before it has read what it was sent.
    var isBehind: Bool { unsent.count >= Self.backlogLimit }

    // MARK: - What it says

    /// Waits until the program says that it takes the next recording, passing over what it says before
    /// unless it `isQuiet` then.
    ///
    /// Once its recording `isGivenUp`, it has the time that a new program needs to start.
    ///
    /// - Returns: false when `isWanted` says no, which is asked again when `wakeup` is signalled.
    func waitUntilReady(
        isNew: Bool = false, isQuiet: Bool = false, isGivenUp: Bool = false,
        wokenBy wakeup: Wakeup, while isWanted: () -> Bool
    ) throws(RecogniserFault) -> Bool {
        let began = ContinuousClock.now
        let patience = isGivenUp ? min(startTime, recogniser.patience) : recogniser.patience
        let deadline = began + (isNew ? recogniser.startTime : patience)
        while phase != .ready {
            guard isWanted() else { return false }
            let line = try next(wokenBy: wakeup, by: deadline)
            if isNew, let error = line?.error {
                throw RecogniserFault(
                    reason: TerminalText.excerpt(of: error.utf8), hint: line?.hint)
            }
            if isQuiet, let line, line.ready == nil, line.error == nil {
                throw fault("it says a text before it is ready")
            }
            if let said = line?.ready { (ready, phase) = (said, .ready) }
        }
        if isNew { startTime = max(Self.farewell, began.duration(to: .now)) }
        return true
    }

    /// How long the final text of a recording may take after its last sound.
    func answerTime(_ duration: Duration) -> ContinuousClock.Instant {
        .now + max(recogniser.patience, duration)
    }

    /// Moves bytes until the program has said something, `wakeup` is signalled, or there is room for
    /// more sound.
    ///
    /// - Parameters:
    ///   - wakeup: its signals are taken back.
    ///   - deadline: when a line must be there; nil while the program owes none.
    /// - Returns: nil without a line.
    /// - Throws: `RecogniserFault` when the program has gone wrong, or owes the line.
    func next(
        wokenBy wakeup: Wakeup, by deadline: ContinuousClock.Instant? = nil
    ) throws(RecogniserFault) -> RecogniserLine? {
        while true {
            if let deadline, deadline <= .now {
                throw fault("it has not answered in time")
            }
            if let line = try takeLine() { return line }
            let wasBehind = isBehind
            let limit = deadline ?? (unsent.isEmpty ? nil : lastSign + recogniser.patience)
            let ready = poll(wakeup.descriptor, until: limit)
            if ready.complaint { takeComplaint() }
            if ready.input { try write() }
            if ready.output {
                try read()
            } else if ready.end {
                throw fault("it has ended", isGone: true)
            }
            if ready.wakeup {
                wakeup.drain()
                return nil
            }
            if wasBehind, !isBehind { return nil }
            if deadline == nil, let limit, limit <= .now, !ready.output, !ready.input {
                throw fault("it takes in no sound")
            }
        }
    }

    private func takeLine() throws(RecogniserFault) -> RecogniserLine? {
        guard let end = unread.firstIndex(of: 0x0A) else {
            guard unread.count <= Self.lineLimit else { throw fault("it writes a line too long") }
            return nil
        }
        let bytes = Array(unread[..<end])
        unread.removeFirst(end + 1)
        guard bytes.count <= Self.lineLimit else { throw fault("it writes a line too long") }
        guard let line = RecogniserLine(parsing: bytes) else {
            let text = TerminalText.excerpt(of: bytes)
            throw fault("it writes a line that is not of the protocol: \(text)")
        }
        return line
    }

    private func poll(
        _ wakeup: Int32, until limit: ContinuousClock.Instant?
    ) -> (output: Bool, complaint: Bool, input: Bool, wakeup: Bool, end: Bool) {
        let inputNumber = unsent.isEmpty ? -1 : input?.number ?? -1
        var polls = [
            pollfd(fd: output.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isComplaining ? complaints.number : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: inputNumber, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
            pollfd(fd: process.ending, events: Int16(POLLIN), revents: 0),
        ]
        // An interrupted wait is one that ended early.
        _ = unsafe Glibc.poll(&polls, nfds_t(polls.count), WorkerPause(until: limit).milliseconds)
        let found = polls.map { $0.revents != 0 }
        return (found[0], found[1], found[2], found[3], found[4])
    }

    private func read() throws(RecogniserFault) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe Glibc.read(output.number, &buffer, buffer.count)
        if count < 0, [EAGAIN, EINTR].contains(errno) { return }
        guard count > 0 else { throw fault("it has closed its output", isGone: true) }
        unread += buffer[..<count]
        lastSign = .now
    }

    private func write() throws(RecogniserFault) {
        guard let number = input?.number else { return }
        let count = unsafe unsent.withUnsafeBytes { bytes in
            unsafe Glibc.write(number, bytes.baseAddress, min(bytes.count, 65_536))
        }
        if count < 0, [EAGAIN, EINTR].contains(errno) { return }
        guard count > 0 else { throw fault("it has closed its input", isGone: true) }
        unsent.removeFirst(count)
        lastSign = .now
    }

    /// Keeps the end of what comes.
    private func takeComplaint() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe Glibc.read(complaints.number, &buffer, buffer.count)
        if count < 0, [EAGAIN, EINTR].contains(errno) { return }
        isComplaining = count > 0
        complaint += buffer[..<max(0, count)]
        complaint.removeFirst(max(0, complaint.count - Self.complaintLimit))
    }

    // MARK: - Its end

    enum Idleness {
        case woken
        case late
        /// It has ended, or says something that it is not asked for.
        case broken
    }

    /// Waits, while the program has nothing to do; it is not woken for that.
    func idle(wokenBy wakeup: Wakeup, until limit: ContinuousClock.Instant?) -> Idleness {
        var polls = [wakeup.descriptor, output.number, process.ending].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        _ = unsafe Glibc.poll(&polls, nfds_t(polls.count), WorkerPause(until: limit).milliseconds)
        if polls[1].revents != 0 || polls[2].revents != 0 || !unread.isEmpty { return .broken }
        if polls[0].revents != 0 {
            wakeup.drain()
            return .woken
        }
        return limit.map { $0 <= .now } == true ? .late : .woken
    }

    /// Ends its input, and gives it a moment to end by itself, until `wakeup` is signalled; false when it
    /// has to be killed.
    @discardableResult
    func close(within time: Duration = farewell, wokenBy wakeup: Wakeup? = nil) -> Bool {
        input = nil
        let hasEnded = waitUntilReadable(
            process.ending, wakeup?.descriptor ?? -1, by: .now + time)
        _ = process.kill()
        return hasEnded
    }

    /// Kills it, and says why it is used no longer, with the last thing that it complained of.
    private func fault(_ reason: String, isGone: Bool = false) -> RecogniserFault {
        // A program that crashes closes its descriptors first.
        let hasEnded =
            isGone && waitUntilReadable(process.ending, by: .now + .milliseconds(200))
        let status = process.kill()
        // A pipe holds 64 KiB, and nothing is added to it any more.
        if isComplaining, waitUntilReadable(complaints.number, by: .now + .milliseconds(1)) {
            takeComplaint()
        }
        var text = reason
        if hasEnded {
            let signal = status & 0x7F
            text = signal == 0 ? "it ended with status \(status >> 8)" : "signal \(signal) ended it"
        }
        let words = complaint.split(separator: 0x0A).last.map { TerminalText.excerpt(of: $0) } ?? ""
        return RecogniserFault(reason: words.isEmpty ? text : "\(text): \(words)")
    }
}
