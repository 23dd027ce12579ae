// SPDX-License-Identifier: Apache-2.0

internal import Settings

extension KnownSettings {
    /// Names that people write for settings.
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
    ]
    private static let url = "services.NAME.url"

    private static func token(_ source: String) -> String { "services.NAME.token-\(source)" }

    /// The name of the setting that a name means which is none.
    static func meant(by path: String, isTable: Bool) -> String? {
        let path = path.lowercased().replacing("_", with: "-")
        let last = path.split(separator: ".").last.map(String.init) ?? path
        if isTable { return "services.\(last)" }
        let names = all.map(\.name)
        func ending(_ word: String) -> String? {
            let found = names.filter { $0 == word || $0.hasSuffix(".\(word)") }
            return found.count == 1 ? found[0] : nil
        }
        let ends = names.compactMap { $0.split(separator: ".").last.map(String.init) }
        // The name of an option, of a member of another table, or one that is mistyped.
        return synonyms[path.replacing(".", with: "-")] ?? synonyms[last] ?? ending(last)
            ?? EditDistance.nearest(to: last, among: ends + synonyms.keys.sorted())
            .flatMap { ending($0) ?? synonyms[$0] }
    }
}
