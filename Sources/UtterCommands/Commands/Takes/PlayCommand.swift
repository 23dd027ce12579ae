// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter

struct PlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Play a take's audio; Ctrl-C stops it.",
        discussion: "It plays by pw-play, paplay or aplay, whichever is installed.")

    @Argument(help: "A part of a take's id, 'last', or 'last~2'.", completion: .takes)
    var take = "last"

    @Option(
        name: [.long, .customShort("D")],
        help: ArgumentHelp(
            "The ALSA device on which aplay plays; see 'utter devices --playback'.",
            valueName: "name"),
        completion: .loudspeakers)
    var device: String?

    @Flag(name: .shortAndLong, help: "Show no position.")
    var quiet = false

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func run() async throws {
        let spool = try Spool(encryption)
        let take = try spool.named(take)
        let status = try TakePlayback(on: device, isQuiet: quiet).play(take, of: spool)
        if status != .textPrinted { throw status.code }
    }
}
