// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Fleet
import Utter
import UtterCommands
internal import UtterTerminal

struct SubmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Hand files, or objects of the store, to the workers.",
        discussion: """
            Files are uploaded. With --list the recordings that lie below the store's prefix
            already are submitted where they are. Whatever is submitted twice is one take: after
            a break the same command goes on.

            Without --queue the workers find the takes by themselves, at most an hour later.
            """)

    @Argument(help: "Files of audio.", completion: .file())
    var files: [String] = []

    @Flag(help: "Submit what lies in the store, instead of files.")
    var list = false

    @Option(
        help: ArgumentHelp(
            "Of --list: those alone whose names begin like this, below the store's prefix.",
            valueName: "prefix"))
    var only = ""

    @Option(
        help: ArgumentHelp(
            "Of --list: those alone that come behind this name.", valueName: "name",
            visibility: .hidden))
    var after: String?

    @Option(
        help: ArgumentHelp("The service that they are for, by its name.", valueName: "name"))
    var service: String?

    @OptionGroup
    var words: WordOptions

    @OptionGroup(title: "Store")
    var store: StoreOptions

    @OptionGroup(title: "Queue")
    var queue: QueueOptions

    func validate() throws {
        guard list != !files.isEmpty else {
            throw ValidationError("Name files, or say --list.")
        }
        if let service, !WorkManifest.isServiceName(service) {
            throw ValidationError("--service: '\(service)' is not the name of a service.")
        }
    }

    func run() async throws {
        let counts = try await store.use { try submit(to: $0) }
        StandardError.line(
            "submitted \(counts.all): \(counts.new) new, \(counts.known) known, "
                + "\(counts.skipped) skipped")
        if !list, counts.skipped > 0 { throw ExitStatus.noInput.code }
    }

    private func submit(to objects: ObjectStore) throws -> Submission.Counts {
        let submission = Submission(
            objects, try queue.open(), profile: service, words: words.words
        ) {
            StandardError.line($0)
        } named: { path, id in
            // A reader that has left has read enough.
            _ = StandardOutput.print("\(id.text)  \(path)")
        }
        do {
            if list {
                try submission.list(only, after: after)
            } else {
                try submission.send(files)
            }
        } catch let error as QueueFailure {
            var failure = QueueOptions.failure(error)
            failure.hint = "what is in the store is queued by: utter fleet check; then repeat this"
            throw failure
        }
        return submission.now
    }
}
