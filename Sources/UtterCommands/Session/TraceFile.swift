// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import Utter

/// The file of `--trace`, which is written when the takes of a run have ended.
final class TraceFile: Sendable {
    private let path: String
    private let file: OwnedDescriptor
    private let outcomes = Mutex<[TakeOutcome]>([])

    /// Makes the file, or empties it.
    init(_ path: String) throws(CommandFailure) {
        self.path = path
        let number = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard number >= 0 else {
            throw CommandFailure(
                "--trace: '\(path)' cannot be written: \(SystemError.last("open").reason)",
                status: .configuration)
        }
        file = OwnedDescriptor(taking: number)
    }

    /// Remembers a take that has ended.
    func add(_ outcome: TakeOutcome) { outcomes.withLock { $0.append(outcome) } }

    /// Writes everything; what goes wrong is a warning, as the takes are delivered.
    func write() {
        let bytes = TraceDocument(outcomes.withLock { $0 }).json
        do throws(SystemError) {
            try writeAll(bytes.span, to: file.number, at: 0)
        } catch {
            StandardError.line("warning: --trace: '\(path)' cannot be written: \(error.reason)")
        }
    }
}
