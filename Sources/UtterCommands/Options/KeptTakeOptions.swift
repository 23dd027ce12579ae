// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter

/// How takes that have been recorded already are sent; for `retry` and `flush`.
struct KeptTakeOptions: ParsableArguments {
    @OptionGroup(title: "Service")
    var service: ServiceOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @Option(
        help: ArgumentHelp(
            "How long the audio stays after its transcript was printed: 7d, 12h, forever, or 0. "
                + "Otherwise UTTER_KEEP_AUDIO, otherwise 24h.", valueName: "time"),
        transform: AudioTime.init(parsing:))
    var keepAudio: AudioTime?

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    /// Whether an option says that a take is sent in another way than before.
    var changesSomething: Bool {
        format != nil || service.to != nil || !service.fields.isEmpty || !service.header.isEmpty
            || service.profile.isGiven
    }

    /// Whether nothing but the rule by which the answer is read is another.
    var changesAnswerAlone: Bool {
        var others = self
        others.service.config.removeAll { $0.hasPrefix("answer.") }
        return service.config != others.service.config && !others.changesSomething
            && !service.bringsSecrets
    }

    @Option(help: "Send the recordings in another form: \(AudioCodec.names).")
    var format: AudioCodec?
}
