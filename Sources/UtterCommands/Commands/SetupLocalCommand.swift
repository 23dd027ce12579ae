// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import Glibc
internal import UtterTerminal

struct SetupLocalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "local", abstract: "Install a recogniser on this machine, and use it.",
        discussion: """
            It says what each recogniser takes before anything is fetched, installs it in
            a folder of your own: packages by pip and the model by its URL, both checked by
            the digests of its recipe. It tries it with a sample, has systemd start it when
            it is needed, or else the desktop at its next session, and makes it the service of
            the settings. What has been fetched is used when you repeat the command. 'utter
            serve' starts it by hand.

            'utter setup local remove' undoes all of that.
            """)

    @Argument(help: "A recogniser, the path of a recipe of your own, or remove.")
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Use this model in place of the recipe's own: a file, a folder, or a name.",
            valueName: "model"), completion: .file())
    var model: String?

    @Flag(name: [.long, .customShort("y")], help: "Ask nothing.")
    var yes = false

    func run() async throws {
        // Ctrl-C ends the program: what has been fetched stays.
        Signals.unblock()
        // A connection that breaks must not.
        _ = signal(SIGPIPE, SIG_IGN)
        if name == "remove" {
            let wasThere = try LocalSetup.remove()
            return StandardError.line(
                wasThere
                    ? "the recogniser of this machine is removed" : "there is nothing to remove")
        }
        try await Self.install(name, model: model.map(Self.known), isSure: yes)
    }

    /// A path that is there as an absolute one; a name as it is.
    private static func known(_ model: String) -> String {
        let path = ServiceOptions.absolute(model)
        return unsafe access(path, F_OK) == 0 ? path : model
    }

    /// Asks which, unless one is named, and installs it.
    static func install(
        _ name: String?, model: String? = nil, isSure: Bool = false
    ) async throws {
        let dialogue = Dialogue()
        let named = try name.map(LocalRecogniser.named)
        guard isSure || Dialogue.isPossible else {
            throw CommandFailure(
                "there is no terminal to ask at", hint: "install it unasked with --yes",
                status: .usage)
        }
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let recogniser: LocalRecogniser
        if let named {
            recogniser = named
            dialogue.say("\(named.name): \(named.facts(processors: processors))")
        } else {
            let all = try LocalRecogniser.all()
            for (index, one) in all.enumerated() {
                dialogue.say("  \(index + 1)  \(one.name): \(one.facts(processors: processors))")
            }
            recogniser = try isSure ? all[0] : choice(of: all, dialogue)
        }
        let setup = LocalSetup(recogniser: recogniser, model: model)
        try setup.check()
        let place = "\(LocalSetup.place)/\(recogniser.name)"
        guard try isSure || dialogue.confirms("Install it in \(place)?", usually: true) else {
            return dialogue.say("Nothing was fetched.")
        }
        try setup.install()
        try await setup.fetchModel()
        dialogue.say(try setup.trial())
        try setup.use()
        do throws(CommandFailure) {
            try LocalUnits.enable(setup.command)
            LocalAutostart.remove()
            dialogue.say("It starts when it is needed. Now speak: utter")
        } catch {
            try LocalAutostart.enable(setup.command)
            dialogue.say(
                "\(error.message): the desktop starts it with your next session, and 'utter serve' "
                    + "in another terminal now. Then speak: utter")
        }
    }

    private static func choice(
        of all: [LocalRecogniser], _ dialogue: Dialogue
    ) throws -> LocalRecogniser {
        while true {
            let line = try dialogue.ask("A recogniser by its number or name; Enter for the first")
            if line.isEmpty { return all[0] }
            if let number = Int(line), all.indices.contains(number - 1) { return all[number - 1] }
            if let named = all.first(where: { $0.name == line }) { return named }
            dialogue.say("There is no '\(line)'.")
        }
    }
}
