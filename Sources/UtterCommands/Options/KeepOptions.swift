// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Utter
internal import UtterSettings

/// What stays on the disk.
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

    @Flag(help: "Record nothing unless it can be kept on the disk.")
    var requireKeep = false

    @Option(
        help: ArgumentHelp(
            "Keep at most this many recordings. Otherwise UTTER_MAX_TAKES, otherwise 1000.",
            valueName: "count"))
    var maxTakes: Int?

    @Option(
        help: ArgumentHelp(
            "Keep no more once takes fill this much. Otherwise UTTER_MAX_BYTES, otherwise 4G.",
            valueName: "size"))
    var maxBytes: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Keep nothing when less than this is free. Otherwise UTTER_MIN_FREE, otherwise 64M.",
            valueName: "size"))
    var minFree: SizeArgument?

    package mutating func validate() throws {
        if noKeep && (keepAudio != nil || requireKeep) {
            throw ValidationError("--no-keep excludes --keep-audio and --require-keep.")
        }
        if let maxTakes, maxTakes < 1 { throw ValidationError("--max-takes must be above zero.") }
    }

    /// The limits that count.
    var limits: SpoolLimits {
        get throws(CommandFailure) {
            let standard = SpoolLimits.standard
            return SpoolLimits(
                takes: try KnownSettings.takeLimit.value(maxTakes) ?? standard.takes,
                bytes: try KnownSettings.byteLimit.value(maxBytes)?.byteCount ?? standard.bytes,
                free: try KnownSettings.freeLimit.value(minFree)?.byteCount ?? standard.free)
        }
    }

    /// How long takes stay that wait for no answer, unless an option says otherwise.
    static var retention: Retention {
        get throws(CommandFailure) {
            var retention = Retention.standard
            retention.answered =
                try KnownSettings.keptTranscripts.value()?.duration ?? retention.answered
            retention.cancelled =
                try KnownSettings.keptCancelled.value()?.duration ?? retention.cancelled
            retention.audio = try KnownSettings.keptAudio.value()?.duration ?? retention.audio
            retention.audioBytes =
                try KnownSettings.keptAudioBytes.value()?.byteCount ?? retention.audioBytes
            return retention
        }
    }
}

extension KeepOptions {
    /// How long takes are sent without being asked for.
    static func maxAge(_ option: AgeArgument? = nil) throws(CommandFailure) -> Duration {
        try KnownSettings.ageLimit.value(option)?.duration ?? SpoolAge.longestWait
    }

    /// Takes are kept while they wait for their answer, and no longer.
    package static var standard: KeepOptions {
        var options = KeepOptions()
        (options.keepAudio, options.noKeep, options.requireKeep) = (nil, false, false)
        (options.maxTakes, options.maxBytes, options.minFree) = (nil, nil, nil)
        return options
    }
}
