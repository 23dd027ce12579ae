// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// The bytes of one body as they came, from the connection's task to the recogniser's thread.
///
/// They lie in a file without a name until the answer is there: a body may have to wait for a
/// recogniser, and is read once more from its first byte when a recogniser breaks down. A slow one
/// keeps no client waiting, who would take the endpoint for dead. One task appends, one thread reads.
final class BodyFile: Sendable {
    enum Taken: Sendable {
        case bytes([UInt8])
        case end
        /// There will be no more, and the recognition is to be given up.
        case failed(BodyFailure)
    }

    private struct State {
        var byteCount = 0
        var ending: Taken?
        var isClosed = false

        var isOver: Bool { isClosed || ending != nil }
    }

    private static let pieceSize = 65_536

    /// Signalled when there are bytes to read, or an end.
    let wakeup: Wakeup
    private let file: any JournalFile
    private let state = Mutex(State())

    init(in folder: String) throws(SystemError) {
        wakeup = try Wakeup()
        file = makePlainFile(try makeTemporaryFile(in: folder))
    }

    // MARK: - The connection's task

    /// Appends bytes; drops them once nothing more is read.
    func append(_ bytes: [UInt8]) async {
        guard let offset = state.withLock({ $0.isOver ? nil : $0.byteCount }) else { return }
        do {
            try await onDisk { [file] in try file.write(bytes.span, at: offset) }
        } catch {
            return fail(.recogniserFailed(reason: Self.reason(error)))
        }
        state.withLock { $0.byteCount += bytes.count }
        wakeup.signal()
    }

    static func reason(_ error: any Error) -> String {
        "the recording cannot be kept: \((error as? SystemError)?.reason ?? "\(error)")"
    }

    /// Says that the body is whole; called from any thread.
    func finish() {
        end(.end)
    }

    /// Gives the recognition up, from any thread; what has not been read is dropped.
    func fail(_ failure: BodyFailure) {
        end(.failed(failure))
    }

    private func end(_ ending: Taken) {
        state.withLock { state in
            switch (ending, state.ending) {
            // An endpoint that ends waits for nothing; a client may go when all of its body is here.
            case (.failed(.shuttingDown), _), (.failed, .end), (_, nil): state.ending = ending
            default: break
            }
        }
        wakeup.signal()
    }

    // MARK: - The recogniser's thread

    /// Takes what there is from `offset` on.
    ///
    /// - Returns: nil when nothing has come, and more may come.
    func take(at offset: Int) -> Taken? {
        let (count, ending) = state.withLock { state in
            (min(state.byteCount - offset, Self.pieceSize), state.ending)
        }
        if case .failed = ending { return ending }
        guard count > 0 else { return ending }
        do {
            return .bytes(try file.bytes(count, at: offset))
        } catch {
            return .failed(.recogniserFailed(reason: Self.reason(error)))
        }
    }

    /// Why the recognition is given up, if it is.
    var failure: BodyFailure? {
        if case .failed(let failure) = state.withLock(\.ending) { failure } else { nil }
    }

    /// Says that nothing more will be read: bytes that still come are dropped.
    func close() {
        state.withLock { $0.isClosed = true }
    }
}

extension JournalFile {
    /// Reads from `offset` on: at least one byte, and at most `count`.
    func bytes(_ count: Int, at offset: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try unsafe bytes.withUnsafeMutableBytes {
            try unsafe read(at: offset, into: $0)
        }
        guard got > 0 else { throw SystemError(call: "read", code: EIO) }
        return Array(bytes.prefix(got))
    }
}
