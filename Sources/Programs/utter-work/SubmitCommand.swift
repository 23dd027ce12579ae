// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Fleet
import LinuxPlatform
import Synchronization
import Utter
import UtterCommands
internal import UtterTerminal

/// Set by one thread, and read by another.
private final class OverFlag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}

/// `utter-work submit`: hands recordings to the fleet.
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

    @Option(
        help: ArgumentHelp("The language that is spoken, such as en.", valueName: "language"))
    var language: String?

    @Option(help: ArgumentHelp("The service's model.", valueName: "model"))
    var model: String?

    @Option(
        help: ArgumentHelp(
            "What helps the service to understand: names, spellings, a topic.", valueName: "text"))
    var prompt: String?

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
        let counts = try await onOwnThread { try submit() }
        StandardError.line(
            "submitted \(counts.all): \(counts.new) new, \(counts.known) known, "
                + "\(counts.skipped) skipped")
        if !list, counts.skipped > 0 { throw ExitStatus.noInput.code }
    }

    private func submit() throws -> Submission.Counts {
        let objects = try store.open(FleetNumbers())
        defer { objects.link.shutDown() }
        var words: [String: String] = [:]
        words["language"] = language
        words["model"] = model
        words["prompt"] = prompt
        let submission = Submission(
            objects, try queue.open(), profile: service, words: words)
        let news = try Wakeup(isPolled: false)
        let isOver = OverFlag()
        let progress = try NamedThread(name: "progress") {
            var next = ContinuousClock.now + .seconds(5)
            while !isOver.isSet {
                news.wait(.until(next))
                guard next <= .now else { continue }
                next += .seconds(5)
                StandardError.line("submitted \(submission.now.all)")
            }
        }
        defer {
            isOver.set()
            news.signal()
            progress.join()
        }
        do {
            if list {
                try submission.list(only, after: after)
            } else {
                try submission.send(files) { StandardError.line($0) }
            }
        } catch let error as QueueFailure {
            var failure = QueueOptions.failure(error)
            failure.hint = "what is in the store is queued by: utter fleet check; then repeat this"
            throw failure
        }
        return submission.now
    }
}
