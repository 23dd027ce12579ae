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
            What is named is removed, answered or not; --older and --answered never remove
            a take that waits for its answer. Both together remove answered takes of that
            age, and leave cancelled ones.
            """)

    @Argument(help: "Takes' names or their beginnings, or 'last'.", completion: .takes)
    var takes: [String] = []

    @Option(
        help: "Remove answered and cancelled takes of this age, such as 7d.",
        transform: AgeArgument.init(parsing:))
    var older: AgeArgument?

    @Flag(help: "Remove all answered takes.")
    var answered = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func validate() throws {
        guard !takes.isEmpty || older != nil || answered else {
            throw ValidationError("Name a take, or use --older or --answered.")
        }
    }

    func run() throws {
        do throws(CommandFailure) {
            let store = try TakeLookup.store()
            var wanted: [TakeID] = []
            for name in takes { wanted.append(try TakeLookup.take(name).id) }
            if answered || older != nil {
                wanted += try TakeLookup.takes(in: store) { isWanted($0) }.map(\.id)
            }
            var seen: Set<TakeID> = []
            wanted = wanted.filter { seen.insert($0).inserted }
            for take in wanted {
                do throws(TakeStoreError) {
                    if let store { try store.remove(store.take(take)) }
                } catch {
                    throw CommandFailure(error)
                }
            }
        } catch {
            throw Launch.exit(error)
        }
    }

    /// Whether a take that nobody has named is meant.
    private func isWanted(_ manifest: TakeManifest) -> Bool {
        guard answered ? manifest.state == .answered : !manifest.isWaiting else { return false }
        guard let older else { return true }
        let limit = Date() - TimeInterval(older.duration.components.seconds)
        // A date that cannot be read is none that has passed.
        return (try? Date(manifest.created, strategy: .iso8601)).map { $0 < limit } ?? false
    }
}
