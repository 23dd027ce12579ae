// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import Utter

/// What stays on the disk.
package struct KeepOptions: ParsableArguments {
    /// Creates options that have not been parsed yet.
    package init() {}

    @Option(
        help: ArgumentHelp(
            "How long the audio stays after its transcript was printed: 7d, 12h, forever, or 0. "
                + "Otherwise UTTER_KEEP_AUDIO, otherwise 24h.", valueName: "age"),
        transform: AudioTime.init(parsing:))
    package var keepAudio: AudioTime?

    @Flag(help: "Write nothing to the disk; what cannot be delivered is gone.")
    package var noKeep = false

    @Flag(help: "Record nothing unless it can be kept on the disk.")
    package var requireKeep = false

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

    /// The limits that these options and the environment set.
    ///
    /// - Throws: `CommandFailure` when a variable is wrong.
    var limits: SpoolLimits {
        get throws(CommandFailure) {
            let standard = SpoolLimits.standard
            // Read even when an option goes before it: what is wrong is found on the first day.
            let takes = try Environment.value("UTTER_MAX_TAKES", "a number above zero") {
                Int($0).flatMap { $0 > 0 ? $0 : nil }
            }
            let bytes = try Environment.value("UTTER_MAX_BYTES", SizeArgument.form) {
                SizeArgument(argument: $0)
            }
            let free = try Environment.value("UTTER_MIN_FREE", SizeArgument.form) {
                SizeArgument(argument: $0)
            }
            return SpoolLimits(
                takes: maxTakes ?? takes ?? standard.takes,
                bytes: (maxBytes ?? bytes)?.byteCount ?? standard.bytes,
                free: (minFree ?? free)?.byteCount ?? standard.free)
        }
    }

    /// How long takes stay that wait for no answer, as the environment says.
    ///
    /// - Throws: `CommandFailure` when a variable is wrong.
    static var retention: Retention {
        get throws(CommandFailure) {
            func age(_ name: String) throws(CommandFailure) -> Duration? {
                try Environment.value(name, AgeArgument.form + ", or 0") {
                    AgeArgument($0)?.duration
                }
            }
            func audioTime() throws(CommandFailure) -> Duration? {
                try Environment.value(
                    "UTTER_KEEP_AUDIO", AgeArgument.form + ", forever, or 0"
                ) { AudioTime($0)?.duration }
            }
            var retention = Retention.standard
            retention.answered = try age("UTTER_KEEP_TRANSCRIPTS") ?? retention.answered
            retention.cancelled = try age("UTTER_KEEP_CANCELLED") ?? retention.cancelled
            retention.audio = try audioTime() ?? retention.audio
            retention.audioBytes =
                try Environment.value("UTTER_KEEP_AUDIO_BYTES", SizeArgument.form) {
                    SizeArgument(argument: $0)?.byteCount
                } ?? retention.audioBytes
            return retention
        }
    }
}

extension KeepOptions {
    /// How long takes are sent without being asked for: as an option says, or the environment.
    ///
    /// - Throws: `CommandFailure` when the variable is wrong.
    package static func maxAge(_ option: AgeArgument? = nil) throws(CommandFailure) -> Duration {
        let age = try Environment.value("UTTER_MAX_AGE", AgeArgument.form) {
            AgeArgument($0).flatMap { $0.duration > .zero ? $0 : nil }
        }
        return (option ?? age)?.duration ?? SpoolAge.longestWait
    }

    /// Takes are kept while they wait for their answer, and no longer.
    package static var standard: KeepOptions {
        var options = KeepOptions()
        (options.keepAudio, options.noKeep, options.requireKeep) = (nil, false, false)
        (options.maxTakes, options.maxBytes, options.minFree) = (nil, nil, nil)
        return options
    }
}

extension AgeArgument {
    /// What a person may write.
    fileprivate static var form: String { "an age with its unit, such as 30d or 12h" }
}

extension SizeArgument {
    /// What a person may write.
    fileprivate static var form: String { "a size such as 500M or 4G" }
}

extension Environment {
    /// The value of a variable that has a form; nil when it is not set, or empty.
    ///
    /// - Throws: `CommandFailure` that names it when it is wrong.
    fileprivate static func value<Value>(
        _ name: String, _ form: String, _ parse: (String) -> Value?
    ) throws(CommandFailure) -> Value? {
        guard let text = self[name], !text.isEmpty else { return nil }
        guard let value = parse(text) else {
            throw CommandFailure(
                "\(name) is '\(text)', which is not \(form)", hint: "correct it, or unset it",
                status: .configuration)
        }
        return value
    }
}
