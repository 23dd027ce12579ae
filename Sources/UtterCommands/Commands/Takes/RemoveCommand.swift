// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import Downloads
import FoundationEssentials
internal import LinuxPlatform
import Utter
internal import UtterTerminal

struct RemoveCommand: AsyncParsableCommand, SettinglessCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Remove takes from the disk; --undo brings them back.",
        discussion: """
            What is named is removed, answered or not; on a terminal a take that was never
            delivered is asked for first. --older and --answered never remove a take that
            waits for its answer. Both together remove answered takes of that age, and
            leave cancelled ones.
            For a day 'utter rm --undo' brings back what was removed: the takes that are
            named, 'all', or else the one removed last. Until then their audio stays on the
            disk, and the key of an encrypted take is not destroyed. --now removes for good,
            takes that were removed before as well; so does every removal from a disk that
            has less room than limits.free.
            A service is asked to drop what it has of a take that is not whole there, and
            what it does not drop is said. Of cancelled takes whose time is over, only
            'utter flush' asks for that.
            """)

    @Argument(help: "Takes by parts of their ids, 'last', 'last~2', or 'all'.", completion: .takes)
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
            throw ValidationError("--undo cannot be used with --now, --answered or --older.")
        }
        guard undo || !takes.isEmpty || older != nil || answered else {
            throw ValidationError("Name a take, or use --older, --answered or --undo.")
        }
    }

    func run() async throws {
        let spool = try Spool(encryption, limits: KeepOptions.standard.limits)
        let removal = TakeRemoval(from: spool, isForGood: now)
        if undo { return try removal.undo(takes) }
        let isAll = takes == ["all"]
        // With `all`, undelivered takes are said and asked for one by one.
        let named = isAll ? try spool.takes(where: .waiting) : try named(in: spool, removal)
        let others =
            isAll || answered || older != nil
            ? try spool.takes().filter { take in
                (isAll || isWanted(take)) && !named.contains { $0.id == take.id }
            } : []
        guard try await removal.remove(named, and: others, isSure: yes), isAll else { return }
        for download in Downloads(in: Environment.stateFolder).all()
        where download.state != .running {
            try Self.remove(download)
        }
    }

    private func named(in spool: Spool, _ removal: TakeRemoval) throws -> [KeptTake] {
        var found: [KeptTake] = []
        for name in takes {
            if try Self.removesDownload(name) { continue }
            do throws(CommandFailure) {
                let take = try spool.named(name)
                if !found.contains(where: { $0.id == take.id }) { found.append(take) }
            } catch {
                guard now, error.status == .noInput else { throw error }
                try removal.destroyRemoved(name)
            }
        }
        return found
    }

    /// Removes a download, if that is what is named.
    private static func removesDownload(_ name: String) throws -> Bool {
        let downloads = Downloads(in: Environment.stateFolder)
        // Most names are those of takes.
        guard name.count >= 4, let found = try? downloads.named(name) else { return false }
        try remove(found)
        return true
    }

    private static func remove(_ download: KeptDownload) throws(DownloadFailure) {
        try Downloads(in: Environment.stateFolder).remove(download.id)
        StandardError.line("removed download \(download.id): \(download.url)")
    }

    /// Whether a take without a name on the command line is meant.
    private func isWanted(_ take: KeptTake) -> Bool {
        guard take.state == .answered || !answered && take.state == .cancelled else { return false }
        guard let older else { return true }
        let limit = ProgramStart.current.now - TimeInterval(older.duration.components.seconds)
        // A date that cannot be read has not passed.
        return take.began.map { $0 < limit } ?? false
    }
}
