// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import UtterControl
internal import UtterTerminal

/// A recorder in the background: an `utter start` in a session of its own, which serves the control
/// socket until its takes are over.
///
/// It goes on when the process ends that has begun it: what is recorded is not lost with a key or a
/// terminal.
final class RecorderProcess: Sendable {
    /// Tells a process that it is one.
    private static let variable = "UTTER_RECORDER"
    /// It opens files and a socket.
    private static let patience = Duration.seconds(30)

    private let process: Mutex<ChildProcess>
    /// The recorder's standard error.
    private let said: OwnedDescriptor

    private init(_ path: String, _ words: [String]) throws(SystemError) {
        let ends = try makePipe()
        said = OwnedDescriptor(taking: ends.reading)
        process = Mutex(
            try ChildProcess(
                path, words, environment: Environment.all { _ in true } + ["\(Self.variable)=1"],
                error: .given(OwnedDescriptor(taking: ends.writing)), isDetached: true))
    }

    /// Says whether this process is one; programs that it starts are not.
    static func takeMark() -> Bool {
        defer { _ = unsafe unsetenv(variable) }
        return Environment[variable] != nil
    }

    /// Tells the process that has begun this one that the socket is served: standard error ends
    /// there, and leads nowhere from now on.
    static func leaveParent() {
        let nowhere = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nowhere >= 0 else { return }
        _ = dup2(nowhere, STDERR_FILENO)
        _ = close(nowhere)
    }

    /// Begins one with the words of a command line, and waits until the socket is served.
    ///
    /// Blocks. Its messages meanwhile go to standard error. Returns nil when the socket is to be
    /// tried again, otherwise the status with which the process has ended, which has said why.
    static func begin(
        _ words: [String], at place: SocketPlace
    ) throws(CommandFailure) -> ExitStatus? {
        let program = OtherProgram.utter
        let path = try program.path()
        let deadline = ContinuousClock.now + patience
        let begun = try orFailure { () throws(SystemError) in
            try RecorderProcess(path, [program.name] + words)
        }
        begun.tellWhatItSays(until: deadline)
        if try orFailure({ try ControlClient.connect(to: place) == nil }),
            let status = begun.status(by: deadline)
        {
            guard status != 0 else { return nil }
            return status & 0x7F == 0
                ? ExitStatus(rawValue: status >> 8) ?? .internalError : .internalError
        }
        guard deadline > .now else {
            throw CommandFailure("nothing can be recorded", status: .nothingRecorded)
        }
        begun.reapInBackground()
        return nil
    }

    private func tellWhatItSays(until deadline: ContinuousClock.Instant) {
        while waitUntilReadable(said.number, by: deadline) {
            // A pipe that cannot be read says nothing more.
            guard let bytes = try? readAll(said.number, limit: 1 << 20, until: { !$0.isEmpty }),
                !bytes.isEmpty
            else { return }
            StandardError.write(String(decoding: bytes, as: UTF8.self))
        }
    }

    private func status(by deadline: ContinuousClock.Instant) -> Int32? {
        // A process that cannot be waited for is as good as gone.
        process.withLock { process in (try? process.status(by: deadline)) ?? nil }
    }

    /// Waits for its end, so that no zombie of it is left.
    private func reapInBackground() {
        // Without a thread it is one until this process ends.
        _ = try? NamedThread(name: "recorder") { [self] in
            while status(by: .now + .seconds(3_600)) == nil {}
        }
    }
}
