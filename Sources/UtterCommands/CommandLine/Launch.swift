// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import Glibc
internal import LinuxPlatform
internal import Utter
package import UtterTerminal

package enum Launch {
    /// Starts the loops, runs `body`, ends the loops, and says how to exit.
    ///
    /// A line on a pipe ends a recording if `readsPipe`. The settings say where the texts of a voice go,
    /// if `isVoice`, and standard output has texts when no place is named, if `printsUnasked`. The key
    /// of `encryption` is read first, and the disk looked at, unless the sound `isLive`: then both wait
    /// for that. An archive that cannot be used holds up nothing, if `needsNoArchive`. A caller that
    /// has waited for something before has `signals` already.
    ///
    /// - Throws: `ExitCode`, unless the status is zero.
    package static func takes(
        output: OutputOptions, keep: KeepOptions, encryption: KeySource = .environment,
        readsPipe: Bool, isVoice: Bool = false, printsUnasked: Bool = true,
        isLive: Bool = false, needsNoArchive: Bool = false, signals: Signals? = nil,
        _ body: (TakeSession) async throws -> ExitStatus
    ) async throws {
        var output = output
        var session: TakeSession
        do {
            output = try output.completed()
            let running = RunningTake()
            let texts = try TextOutput(
                output.texts, isUsual: printsUnasked, form: output.form, isVoice: isVoice
            ) {
                running.farewell != nil
            }
            let encrypts = keep.noKeep ? false : try encryption.isSet
            let key = encrypts && !isLive ? try encryption.key() : nil
            let (limits, retention) = (try keep.limits, try KeepOptions.retention)
            let cassettes = try output.cassetteFolder()
            let signals = try signals ?? Signals(readingPipe: readsPipe)
            let readKey: @Sendable () throws -> EncryptionKey = {
                if let key { return key }
                return try encryption.key(during: signals)
            }
            let spool = Spool(
                at: Environment.stateFolder, key: encrypts ? readKey : nil, limits: limits,
                retention: retention,
                archive: keep.noKeep ? nil : try KnownSettings.archive(isOptional: needsNoArchive))
            session = TakeSession(
                pipeline: try Pipeline(
                    spool: keep.noKeep ? nil : spool, secrets: SecretAsker(signals).answer),
                signals: signals, running: running, output: output, texts: texts,
                audioTime: try keep.audioTime, spool: spool,
                cassettes: cassettes)
        } catch {
            throw exit(error, as: output.form)
        }
        var status: ExitStatus
        do {
            session.requiresKeep = try keep.requiresKeep
            // Sound is heard before the disk is looked at; what is wrong there is told then.
            if !isLive { try session.checkStore() }
            status = try await body(session)
        } catch {
            status = session.refuse(CommandFailure(of: error))
        }
        // The loops end before the process does: exit(3) takes down libraries that they use.
        await session.end(status)
        if status != .textPrinted { throw status.code }
    }

    /// The path of the program that runs.
    static var program: String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let bytes = buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    package static var programFolder: String {
        let path = program
        return String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
    }

    /// Where what comes with the package may be: installed, or in the source tree.
    package static var sharedFolders: [String] {
        // Without "..", since their names are shown.
        let above = { (levels: Int) in
            "/" + programFolder.split(separator: "/").dropLast(levels).joined(separator: "/")
        }
        return ["\(above(2))/share/utter", "\(above(1))/share/utter", "\(above(3))/samples"]
    }

    /// Says what went wrong, and returns the value to throw.
    static func exit(_ error: any Error, as form: OutputForm = .text) -> any Error {
        let failure = CommandFailure(of: error)
        failure.report(as: form)
        return failure.status.code
    }
}
