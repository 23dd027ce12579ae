// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Utter

struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Remove takes from the disk; --undo brings them back.",
        discussion: """
            What is named is removed, answered or not; on a terminal a take that was never
            delivered is asked for first. --older and --answered never remove a take that
            waits for its answer. Both together remove answered takes of that age, and
            leave cancelled ones.
            For a day 'utter rm --undo' brings back what was removed: the takes that are
            named, 'all', or else the one removed last. --now removes for good, takes that
            were removed before as well.
            """)

    @Argument(
        help: "Takes by parts of their ids, 'last', or 'last~2'.", completion: .takes)
    var takes: [String] = []

    @Option(
        help: "Remove answered and cancelled takes of this age, such as 7d.",
        transform: AgeArgument.init(parsing:))
    var older: AgeArgument?

    @Flag(help: "Remove all answered takes.")
    var answered = false

    @Flag(name: [.long, .customShort("y")], help: "Ask nothing.")
    var yes = false

    @Flag(help: "Remove for good: nothing can be brought back.")
    var now = false

    @Flag(help: "Bring removed takes back.")
    var undo = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func validate() throws {
        if undo && (now || answered || older != nil) {
            throw ValidationError("--undo excludes --now, --answered and --older.")
        }
        guard undo || !takes.isEmpty || older != nil || answered else {
            throw ValidationError("Name a take, or use --older, --answered or --undo.")
        }
    }

    func run() throws {
        do throws(CommandFailure) {
            let lookup = try TakeLookup(encryption)
            guard let store = try lookup.store() else {
                // Says that there is none.
                for name in takes { _ = try lookup.take(name) }
                guard undo else { return }
                throw CommandFailure("there is no take yet", status: .noInput)
            }
            Retention.sweepRemoved(store)
            let removal = try TakeRemoval(from: store, isForGood: now)
            if undo { return try removal.undo(takes) }
            let named = try named(by: lookup, in: store, removal)
            let others =
                answered || older != nil
                ? try TakeLookup.takes(in: store) { isWanted($0) }.map(\.id) : []
            try removal.remove(
                named, and: others.filter { !named.contains($0) }, isSure: yes)
        } catch {
            throw Launch.exit(error)
        }
    }

    private func named(
        by lookup: TakeLookup, in store: TakeStore, _ removal: TakeRemoval
    ) throws(CommandFailure) -> [TakeID] {
        var found: [TakeID] = []
        for name in takes {
            do throws(CommandFailure) {
                let id = try lookup.take(name).id
                if !found.contains(id) { found.append(id) }
            } catch {
                guard now, error.status == .noInput else { throw error }
                try removal.destroyRemoved(name)
            }
        }
        return found
    }

    /// Whether a take without a name on the command line is meant.
    private func isWanted(_ manifest: TakeManifest) -> Bool {
        guard answered ? manifest.state == .answered : !manifest.isWaiting else { return false }
        guard let older else { return true }
        let limit = Date() - TimeInterval(older.duration.components.seconds)
        // A date that cannot be read is none that has passed.
        return (try? Date(manifest.created, strategy: .iso8601)).map { $0 < limit } ?? false
    }
}
