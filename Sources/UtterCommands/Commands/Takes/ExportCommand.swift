// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import LinuxPlatform
import Utter
internal import UtterTerminal

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Copy a take's audio to a file: as its name says, or as it is.",
        discussion: """
            A name in .wav, .flac or .ogg (Opus) says the format. A name that stands for
            another one, such as .mp3, is refused. A WAV file of more than 4 GiB (37 hours)
            is RF64.
            """)

    @Argument(help: "A part of a take's id, 'last', or 'last~2'.", completion: .takes)
    var take: String

    @Argument(
        help: "The file to write, which must not exist, or - for standard output.",
        completion: .file())
    var file: String

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func run() throws {
        let spool = try Spool(encryption)
        let take = try spool.named(take)
        if let report = try export(take, of: spool) {
            StandardError.line("warning: \(report)")
        }
    }

    private func export(_ take: KeptTake, of spool: Spool) throws -> String? {
        do {
            guard file == "-" else { return try spool.export(take, to: file) }
            return try spool.copyAudio(of: take, writeAll)
        } catch let error as SystemError where error.code == EEXIST {
            throw CommandFailure(
                "'\(file)' exists already", hint: "choose another name", status: .localIO)
        } catch let error as SystemError {
            throw CommandFailure.cannotWrite(file, error)
        }
    }

    /// Writes to standard output.
    private func writeAll(_ bytes: Span<UInt8>) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = try retryingInterrupts("write") {
                unsafe rest.withUnsafeBufferPointer {
                    unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count)
                }
            }
            rest = rest.extracting(droppingFirst: count)
        }
    }
}
