// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterSettings
internal import UtterTerminal

enum KnownSettings {
    static let service = Setting("service", "UTTER_SERVICE", .nameOrPath)
    static let language = Setting("language")
    static let model = Setting("model")
    static let prompt = Setting("prompt")
    static let device = Setting("device", standard: "default")
    static let format = Setting("format", form: AudioCodec.names) {
        AudioCodec(rawValue: $0)
    }

    static let key = Setting("key", form: "one of \(TalkKey.examples)", standard: "space") {
        TalkKey(named: $0)
    }
    /// How long a terminal has to say whether it reports releases.
    static let answerTime = time(
        "terminal.answer-time", "UTTER_TERMINAL_TIME", "a time such as 200ms", "200ms")

    static let longest = time(
        "recording.max", nil, "a time above zero, such as 30m or 90s", "30m"
    ) { $0 > .zero }
    static let tail = time("recording.tail", nil, "a time such as 300ms", "300ms")
    static let period = time("recording.period", nil, "a time from 10ms to 100ms", "20ms") {
        MicrophoneOptions.periods.contains($0)
    }
    /// The silence behind a voice that ends a recording.
    static let silence = time("recording.silence", nil, "a time such as 2.5s, or 0 for never", "0")
    /// The length below which a recording is dropped.
    static let least = time("recording.min", nil, "a time such as 200ms, or 0", "200ms")
    /// Whether a start that records is itself the recorder.
    static let foreground = flag("recording.foreground", "UTTER_FOREGROUND")

    static let keptAudio = Setting(
        "keep.audio", "UTTER_KEEP_AUDIO", form: AudioTime.form, standard: "24h"
    ) { AudioTime($0) }
    static let keptAudioBytes = size("keep.audio-bytes", "UTTER_KEEP_AUDIO_BYTES", "1G")
    static let keptTranscripts = Setting(
        "keep.transcripts", "UTTER_KEEP_TRANSCRIPTS", form: "\(age), or 0", standard: "30d"
    ) { AgeArgument($0) }
    static let keptCancelled = Setting(
        "keep.cancelled", "UTTER_KEEP_CANCELLED", form: "\(age), or 0", standard: "7d"
    ) { AgeArgument($0) }
    /// Whether nothing is recorded that cannot be kept.
    static let keepRequired = flag("keep.required")
    static let takeLimit = Setting(
        "limits.takes", "UTTER_MAX_TAKES", .count, form: "a number above zero", standard: "1000"
    ) { Int($0).flatMap { $0 > 0 ? $0 : nil } }
    static let byteLimit = size("limits.bytes", "UTTER_MAX_BYTES", "4G")
    static let freeLimit = size("limits.free", "UTTER_MIN_FREE", "64M")
    /// The age at which takes are not sent unasked any more.
    static let ageLimit = Setting("limits.age", "UTTER_MAX_AGE", form: age, standard: "30d") {
        AgeArgument($0).flatMap { $0.duration > .zero ? $0 : nil }
    }

    static let archivePlace = Setting("archive.to", "UTTER_ARCHIVE")
    static let archiveService = Setting("archive.service", nil, .nameOrPath)
    /// Whether encrypted takes are stored in the clear.
    static let archiveDecrypts = flag("archive.decrypt")
    /// How long a command waits for the archive before it ends.
    static let archiveTime = time("archive.wait", nil, "a time such as 5s, or 0", "5s")

    static let keyFile = Setting("encryption.key-file", "UTTER_ENCRYPT_KEY_FILE", .path)
    static let keyCommand = Setting("encryption.key-command", "UTTER_ENCRYPT_KEY_COMMAND")

    /// Whether sounds such as "um" and doubled words are left out of texts.
    static let fillers = flag("text.fillers")
    /// Whether spoken names of marks, such as "comma", become the marks.
    static let marks = flag("text.marks")
    /// Whether "scratch that" takes back the sentence before it.
    static let takesBack = flag("text.take-back")
    /// The list of words that are written in another way.
    static let wordList = Setting("text.words", nil, .path)
    /// The words with which a person ends hands-free dictation.
    static let stopWord = Setting("text.stop-word")
    /// The command that reads each text, and prints the one that counts.
    static let filter = Setting("output.filter")

    /// The prices of a minute, by the names of services.
    static let prices = Setting(
        "stats.prices", form: "names of services and prices of a minute, such as openai=0.006"
    ) { KnownSettings.prices(in: $0) }

    static let detail = Setting(
        "output.detail", form: "one of quiet, normal, verbose", standard: "normal"
    ) { OutputOptions.Detail(rawValue: $0) }
    static let textPlaces = Setting(
        "output.to", form: "stdout, copy or type, or several of them with commas",
        standard: "stdout"
    ) { KnownSettings.sinks(of: $0) }
    static let textCommand = Setting("output.run")
    /// Whether a line feed ends the text; nil: yes.
    static let endsLines = Setting(
        "output.newline", nil, .flag, form: "true or false", standard: "true"
    ) { flags[$0.lowercased()] }
    static let plain = flag("output.plain", "UTTER_PLAIN")
    static let cue = flag("output.cue", "UTTER_CUE")
    static let partials = flag("output.partials")
    /// Whether the desktop is told of a recording without a text.
    static let notify = flag("output.notify")

    /// All, in the order in which they are shown.
    ///
    /// A recording can do without what the file says of how it is made and shown, known or unknown.
    /// Not without the service, what is kept and for how long, keys of encryption, and where texts
    /// go: a guess there sends a voice elsewhere, or loses it.
    static let catalogue = SettingsCatalogue(
        [
            service, language, model, prompt, device, format, key, longest, tail,
            period, silence, least, foreground, answerTime,
            keptAudio, keptAudioBytes, keptTranscripts, keptCancelled, keepRequired,
            takeLimit, byteLimit, freeLimit, ageLimit,
            archivePlace, archiveService, archiveDecrypts, archiveTime, keyFile, keyCommand,
            fillers, marks, takesBack, wordList, stopWord, filter, detail,
            textPlaces, textCommand, endsLines, plain, cue, partials, notify, prices,
        ],
        dispensable: [
            language.name, model.name, prompt.name, device.name, format.name, key.name,
            detail.name, endsLines.name, plain.name, cue.name, partials.name, notify.name,
            "recording.",
            "stats.", "terminal.", "text.",
        ],
        storewide: [
            keptAudioBytes.name, keptTranscripts.name, keptCancelled.name, takeLimit.name,
            byteLimit.name, freeLimit.name,
        ], synonyms: synonyms)

    private static let age = AgeArgument.form

    private static func prices(in text: String) -> [String: Double]? {
        var prices: [String: Double] = [:]
        for item in text.split(separator: ",") {
            let parts = item.filter { $0 != " " }.split(separator: "=")
            guard parts.count == 2, let price = Double(parts[1]), (0...1e6).contains(price) else {
                return nil
            }
            prices[String(parts[0])] = price
        }
        return prices
    }

    /// The places that words with commas between them name; nil when one is not known.
    private static func sinks(of text: String) -> [TextSink]? {
        let known: [String: TextSink] = [
            "stdout": .standardOutput, "copy": .clipboard, "type": .keyboard,
        ]
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.filter { $0 != " " } }
        let sinks = words.compactMap { known[String($0)] }
        return sinks.count == words.count ? sinks : nil
    }

    private static func time(
        _ name: String, _ variable: String?, _ form: String, _ standard: String,
        where isRight: @escaping @Sendable (Duration) -> Bool = { _ in true }
    ) -> Setting<DurationArgument> {
        Setting(name, variable, form: form, standard: standard) {
            DurationArgument(argument: $0).flatMap { isRight($0.duration) ? $0 : nil }
        }
    }

    private static func size(
        _ name: String, _ variable: String, _ standard: String
    ) -> Setting<SizeArgument> {
        Setting(name, variable, .size, form: "a size such as 500M or 4G", standard: standard) {
            SizeArgument(argument: $0)
        }
    }

    private static func flag(_ name: String, _ variable: String? = nil) -> Setting<Bool> {
        Setting(name, variable, .flag, form: "true or false", standard: "false") {
            flags[$0.lowercased()]
        }
    }

    /// The words for yes and no in a variable.
    private static let flags = [
        "true": true, "yes": true, "on": true, "1": true,
        "false": false, "no": false, "off": false, "0": false,
    ]

    /// A value as the file has it.
    static func literal(of value: String, _ setting: any AnySetting) -> String {
        setting.kind == .flag ? flags[value.lowercased()].map { "\($0)" } ?? value : value
    }
}

extension KnownSettings {
    static let synonyms = [
        "url": url, "to": url, "endpoint": url, "server": url, "host": url, "uri": url,
        "token": token("file"), "api-key": token("file"), "secret": token("file"),
        "token-file": token("file"), "token-command": token("command"),
        "token-variable": token("variable"), "api-key-file": token("file"),
        "api-key-command": token("command"), "credential": token("credential"),
        "lang": language.name, "locale": language.name, "mic": device.name,
        "microphone": device.name, "input": device.name, "source": device.name,
        "provider": service.name, "engine": service.name, "backend": service.name,
        "codec": format.name, "encoding": format.name, "hotkey": key.name, "shortcut": key.name,
        "talk-key": key.name, "hints": prompt.name, "vocabulary": prompt.name,
        "duration": longest.name, "length": longest.name, "max-duration": longest.name,
        "max-length": longest.name, "maximum": longest.name, "timeout": longest.name,
        "minimum": least.name, "min-duration": least.name, "vad": silence.name,
        "silence-timeout": silence.name, "auto-stop": silence.name, "keep-audio": keptAudio.name,
        "keep-transcripts": keptTranscripts.name, "max-takes": takeLimit.name,
        "max-bytes": byteLimit.name, "max-size": byteLimit.name, "min-free": freeLimit.name,
        "max-age": ageLimit.name, "encrypt-key": keyFile.name,
        "encrypt-key-command": keyCommand.name, "quiet": detail.name, "verbose": detail.name,
        "log-level": detail.name, "copy": textPlaces.name, "clipboard": textPlaces.name,
        "type": textPlaces.name, "paste": textPlaces.name, "exec": textCommand.name,
        "command": textCommand.name, "beep": cue.name, "sound": cue.name, "sounds": cue.name,
        "notify": notify.name, "notification": notify.name, "notifications": notify.name,
    ]
    private static let url = "services.NAME.url"

    private static func token(_ source: String) -> String { "services.NAME.token-\(source)" }
}
