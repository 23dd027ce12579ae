// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Copy a take's audio to a file: as its name says, or as it is.")

    @Argument(help: "A part of a take's id, 'last', or 'last~2'.", completion: .takes)
    var take: String

    @Argument(
        help: "The file to write, which must not exist, or - for standard output.",
        completion: .file())
    var file: String

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func run() throws {
        do throws(CommandFailure) {
            let folder = try TakeLookup(encryption).take(take)
            let manifest = try TakeLookup.manifest(folder)
            try TakeExport.write(folder, manifest, to: file)
        } catch {
            throw Launch.exit(error)
        }
    }
}
