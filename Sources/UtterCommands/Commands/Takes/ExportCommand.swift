// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import LinuxPlatform
import Utter
internal import UtterTerminal

struct ExportCommand: SettinglessCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Copy a take's audio to a file, in the format that the file's name asks for.",
        discussion: """
            A name in .wav, .flac or .ogg (Opus) says the format. A name that stands for
            another one, such as .mp3, is refused. A WAV file of more than 4 GiB (37 hours)
            is RF64.

            An encrypted file of an archive, named with a slash or as ending in .encrypted,
            is copied in the clear: its audio, its text (.txt) or what is known of it (.json).
            So is the body of a request that body.key-file has encrypted.
            """)

    @Argument(
        help: "A part of a take's id, 'last', 'last~2', or an encrypted file of an archive.",
        completion: .takes)
    var take: String

    @Argument(
        help: "The file to write, which must not exist, or - for standard output.",
        completion: .file())
    var file: String

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func run() throws {
        if let report = try export(from: try Spool(encryption)) {
            StandardError.line("warning: \(report)")
        }
    }

    private func export(from spool: Spool) throws -> String? {
        let isFile = take.contains("/") || take.hasSuffix(".encrypted")
        if isFile, unsafe access(take.cPath, R_OK) != 0 {
            let reason = SystemError.last("access").reason
            throw CommandFailure("'\(take)' cannot be read: \(reason)", status: .noInput)
        }
        do {
            if isFile {
                guard file == "-" else { return try spool.export(archived: take, to: file) }
                return try spool.copy(archived: take, writeAll)
            }
            let take = try spool.named(take)
            guard file == "-" else { return try spool.export(take, to: file) }
            return try spool.copyAudio(of: take, writeAll)
        } catch let error as SystemError where error.code == EEXIST {
            throw CommandFailure(
                "'\(file)' exists already", hint: "choose another name", status: .localIO)
        } catch let error as SystemError {
            throw CommandFailure.cannotWrite(file, error)
        }
    }

    private func writeAll(_ bytes: Span<UInt8>) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = try retryingInterrupts("write") {
                unsafe rest.withUnsafeBufferPointer {
                    unsafe write(ProgramStart.current.output, $0.baseAddress, $0.count)
                }
            }
            rest = rest.extracting(droppingFirst: count)
        }
    }
}
