// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
internal import UtterTerminal

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what is known of a take.")

    @Argument(help: "A part of a take's id, 'last', or 'last~2'.", completion: .takes)
    var take = "last"

    @Flag(help: "Print one JSON object; its path names the audio while it is there.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print the format and the audio's SHA-256 too.")
    var verbose = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    /// The manifest, and where the audio is, if it is.
    private struct Report: Encodable {
        let manifest: TakeManifest
        let path: String?

        enum CodingKeys: CodingKey { case path }

        func encode(to encoder: any Encoder) throws {
            try manifest.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(path, forKey: .path)
        }
    }

    func run() throws {
        let take = try Spool(encryption).named(take)
        let manifest = try take.manifest.get()
        let text: String
        if json {
            text = JSONOutput.text(Report(manifest: manifest, path: take.audioPath), isPretty: true)
        } else {
            let report = TakeReport(manifest, audio: take.audioPath, isVerbose: verbose)
            text = report.lines(columns: StandardOutput.columns).joined(separator: "\n")
        }
        try StandardOutput.show(text)
    }
}
