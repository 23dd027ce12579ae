// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import LinuxPlatform
internal import Utter

/// How a command that runs takes begins and ends.
package enum Launch {
    /// Starts the loops, runs `body`, ends the loops, and says how to exit.
    ///
    /// Enter ends a recording if `listensToEnter`.
    ///
    /// - Throws: `ExitCode`, unless the status is zero.
    package static func takes(
        output: OutputOptions, keepsAudio: Bool, listensToEnter: Bool,
        _ body: (TakeSession) async throws(CommandFailure) -> ExitStatus
    ) async throws {
        let status: ExitStatus
        do {
            let signals = try Signals(listensToEnter: listensToEnter)
            let pipeline = try Pipeline(stateFolder: Environment.stateFolder)
            let session = TakeSession(
                pipeline: pipeline, signals: signals, output: output, keepsAudio: keepsAudio)
            status = try await body(session)
            session.end(status)
        } catch let error as SystemError {
            throw exit(CommandFailure(error.description, status: .internalError))
        } catch let error as CommandFailure {
            throw exit(error, json: output.json)
        }
        if status != .textPrinted { throw status.code }
    }

    /// The folder of the running program.
    package static var programFolder: String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let bytes = buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }
        let path = String(decoding: bytes, as: UTF8.self)
        return String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
    }

    /// Says what went wrong.
    ///
    /// - Parameters:
    ///   - failure: what went wrong.
    ///   - json: whether it is printed as an object on standard output too.
    /// - Returns: the value to throw.
    package static func exit(_ failure: CommandFailure, json: Bool = false) -> any Error {
        failure.report(json: json)
        return failure.status.code
    }
}
