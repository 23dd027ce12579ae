// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// An `utter start` that this process runs, since no other records.
///
/// It goes on when this process ends: what is recorded is not lost with the key.
final class RecorderProcess: Sendable {
    private let process: Mutex<ChildProcess>

    /// So often it is asked whether it answers.
    private static let interval = Duration.milliseconds(10)
    /// It opens files, a microphone and a socket.
    private static let patience = Duration.seconds(30)

    init() throws(CommandFailure) {
        let program = OtherProgram.utter
        guard let path = program.paths.first(where: { unsafe access($0, X_OK) == 0 }) else {
            throw program.missing
        }
        process = try orFailure {
            Mutex(
                try ChildProcess(
                    path, [program.name, "start"], environment: Environment.all { _ in true }))
        }
    }

    /// Asks until it records, or has ended.
    func take(_ ask: () throws(CommandFailure) -> String?) throws(CommandFailure) -> String {
        // Also when it is slow or refuses: it may record already, and ends by itself.
        defer { reapInBackground() }
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline {
            let hasEnded = hasEnded(within: Self.interval)
            if let take = try ask() { return take }
            guard !hasEnded else { break }
        }
        throw CommandFailure("nothing can be recorded", status: .nothingRecorded)
    }

    private func hasEnded(within time: Duration) -> Bool {
        process.withLock { process in
            do throws(SystemError) {
                return try process.status(by: .now + time) != nil
            } catch {
                // One that cannot be waited for is as good as gone.
                return true
            }
        }
    }

    /// Waits for its end, so that no zombie of it is left.
    private func reapInBackground() {
        // Without a thread it is one until this process ends.
        _ = try? NamedThread(name: "recorder") { [self] in
            while !hasEnded(within: .seconds(3_600)) {}
        }
    }
}
