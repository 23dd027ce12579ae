// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Utter

package struct KeepOptions: ParsableArguments {
    package init() {}

    @Option(
        help: ArgumentHelp(
            "How long the audio stays after its transcript was printed: 7d, 12h, forever, or 0. "
                + "Otherwise UTTER_KEEP_AUDIO, otherwise 24h.", valueName: "age"),
        transform: AudioTime.init(parsing:))
    var keepAudio: AudioTime?

    @Flag(help: "Write nothing to the disk; what cannot be delivered is gone.")
    package var noKeep = false

    package mutating func validate() throws {
        if noKeep, keepAudio != nil {
            throw ValidationError("--no-keep and --keep-audio cannot be used together.")
        }
    }

    /// Whether nothing is recorded that cannot be kept.
    var requiresKeep: Bool {
        get throws(CommandFailure) {
            guard try KnownSettings.keepRequired.value() == true else { return false }
            if !noKeep { return true }
            throw CommandFailure(
                "--no-keep and keep.required cannot be used together", status: .usage)
        }
    }

    /// How long the audio of this command's takes stays; nil if neither an option nor a preset says so.
    var audioTime: Duration? {
        get throws(CommandFailure) { try KnownSettings.keptAudio.values(keepAudio).own?.duration }
    }

    var limits: SpoolLimits {
        get throws(CommandFailure) {
            let standard = SpoolLimits.standard
            return SpoolLimits(
                takes: try KnownSettings.takeLimit.value() ?? standard.takes,
                bytes: try KnownSettings.byteLimit.value()?.byteCount ?? standard.bytes,
                free: try KnownSettings.freeLimit.value()?.byteCount ?? standard.free)
        }
    }

    /// How long takes stay that wait for no answer, unless their own command says otherwise.
    static var retention: Retention {
        get throws(CommandFailure) {
            var retention = Retention.standard
            retention.answered =
                try KnownSettings.keptTranscripts.value()?.duration ?? retention.answered
            retention.cancelled =
                try KnownSettings.keptCancelled.value()?.duration ?? retention.cancelled
            retention.audio =
                try KnownSettings.keptAudio.values().usual?.duration ?? retention.audio
            retention.audioBytes =
                try KnownSettings.keptAudioBytes.value()?.byteCount ?? retention.audioBytes
            return retention
        }
    }

    /// How long takes are sent without being asked for.
    static func maxAge(_ option: AgeArgument? = nil) throws(CommandFailure) -> Duration {
        try KnownSettings.ageLimit.value(option)?.duration ?? SpoolRules.longestWait
    }

    /// Takes are kept while they wait for their answer, and no longer.
    package static var standard: KeepOptions {
        var options = KeepOptions()
        (options.keepAudio, options.noKeep) = (nil, false)
        return options
    }
}

/// For takes that have been recorded already: `retry` and `flush`.
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
