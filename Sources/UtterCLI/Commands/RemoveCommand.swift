// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Utter
import UtterTerminal

/// `utter rm`: removes takes from the disk.
struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Remove takes from the disk.",
        discussion: """
            What is named is removed, answered or not; --older and --answered never remove a take
            that waits for its answer.
            """)

    @Argument(help: "Takes' names or their beginnings, or 'last'.")
    var takes: [String] = []

    @Option(
        help: ArgumentHelp("Remove answered and cancelled takes of this age, such as 7d."))
    var older: AgeArgument?

    @Flag(help: "Remove all answered takes.")
    var answered = false

    func validate() throws {
        guard !takes.isEmpty || older != nil || answered else {
            throw ValidationError("Name a take, or use --older or --answered.")
        }
    }

    func run() throws {
        do throws(CommandFailure) {
            var wanted: [TakeFolder] = []
            for name in takes { wanted.append(try TakeLookup.take(name)) }
            if answered { wanted += try TakeLookup.takes { $0.state == .answered } }
            if let older {
                let limit = Date() - older.seconds
                wanted += try TakeLookup.takes { manifest in
                    guard manifest.state == .answered || manifest.state == .cancelled,
                        // A date that cannot be read is none that has passed.
                        let created = try? Date(manifest.created, strategy: .iso8601)
                    else { return false }
                    return created < limit
                }
            }
            let store = try TakeLookup.store()
            for take in wanted {
                do throws(TakeStoreError) {
                    try store.remove(take)
                } catch {
                    throw CommandFailure(error)
                }
            }
        } catch {
            throw Launch.exit(error)
        }
    }
}

/// An age on the command line: `7d`, `12h`, or any duration.
struct AgeArgument: ExpressibleByArgument {
    let seconds: TimeInterval

    init?(argument: String) {
        if argument.hasSuffix("d"), let days = Double(argument.dropLast()), days >= 0 {
            seconds = days * 86_400
        } else if let duration = DurationArgument(argument: argument)?.duration {
            seconds = TimeInterval(duration.components.seconds)
        } else {
            return nil
        }
    }
}
