// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Utter
internal import UtterTerminal

/// The folder of `--output-dir`: a file for the text of each recording, and more where the service
/// tells times.
struct TranscriptFolder: Sendable {
    /// `NAME.txt` is always there, the others where times are known.
    private static let extensions = ["txt", "srt", "vtt", "json"]

    private let path: String
    private let replaces: Bool
    /// The names of a recording's files, without an extension.
    private let names: [String: String]

    /// Makes the folder when it is missing; refuses two recordings of the same name.
    init(_ path: String, replaces: Bool, of files: [String]) throws(CommandFailure) {
        (self.path, self.replaces) = (path, replaces)
        var names: [String: String] = [:]
        var owners: [String: String] = [:]
        for file in files {
            let name = Self.name(of: file)
            if let other = owners[name], other != file {
                throw CommandFailure(
                    "--output-dir: '\(other)' and '\(file)' would both become '\(name).txt'",
                    hint: "send them one after the other, to two folders", status: .usage)
            }
            (owners[name], names[file]) = (file, name)
        }
        self.names = names
        if unsafe mkdir(path.cPath, 0o777) != 0, errno != EEXIST {
            throw Self.unusable(path, SystemError.last("mkdir \(path)"))
        }
        guard Folder.isFolder(at: path) else {
            throw Self.unusable(path, SystemError(call: "open \(path)", code: ENOTDIR))
        }
        guard unsafe access(path.cPath, W_OK | X_OK) == 0 else {
            throw Self.unusable(path, SystemError.last("open \(path)"))
        }
    }

    /// Refuses a recording, before it is sent, of which a file is there and not to be replaced.
    func check(_ file: String) throws(CommandFailure) {
        guard !replaces else { return }
        for place in Self.extensions.map({ place(of: file, $0) })
        where unsafe access(place.cPath, F_OK) == 0 {
            throw exists(place)
        }
    }

    /// Files that are written stay when a later one cannot be; `length` is that of the recording.
    func write(
        _ transcript: Transcript, lasting length: Duration, of file: String, json: String
    ) throws(CommandFailure) {
        try write(transcript.displayText + "\n", to: place(of: file, "txt"))
        // Without a length, the times are the service's.
        let cues = SubtitleText.cues(
            segments: transcript.segments, words: transcript.words,
            within: length > .zero ? length / .seconds(1) : nil)
        guard !cues.isEmpty else { return }
        try write(SubtitleText.srt(cues), to: place(of: file, "srt"))
        try write(SubtitleText.vtt(cues), to: place(of: file, "vtt"))
        try write(json + "\n", to: place(of: file, "json"))
        let count = SubtitleText.missingWordCount(of: transcript.displayText, in: cues)
        guard count > 0 else { return }
        let words = count == 1 ? "1 word of the text has" : "\(count) words of the text have"
        StandardError.line(
            "warning: \(words) no times, and \(count == 1 ? "is" : "are") not in "
                + "'\(place(of: file, "srt"))'")
    }

    private func write(_ text: String, to place: String) throws(CommandFailure) {
        let bytes = Array(text.utf8)
        do throws(SystemError) {
            if replaces {
                try NamedFile(place).replace(with: bytes)
            } else {
                try NamedFile(place).create(with: bytes)
            }
        } catch {
            throw error.code == EEXIST ? exists(place) : Self.failure(place, error)
        }
    }

    private func place(of file: String, _ ending: String) -> String {
        "\(path)/\(names[file] ?? Self.name(of: file)).\(ending)"
    }

    private func exists(_ place: String) -> CommandFailure {
        CommandFailure(
            "'\(place)' exists already", hint: "replace it with --force, or name another folder",
            status: .localIO)
    }

    /// A folder that was named wrongly, or on a disk without room for it.
    private static func unusable(_ path: String, _ error: SystemError) -> CommandFailure {
        var failure = failure(path, error)
        if !error.isOfRoom { failure.status = .configuration }
        return failure
    }

    private static func failure(_ place: String, _ error: SystemError) -> CommandFailure {
        CommandFailure(
            "--output-dir: '\(place)' cannot be written: \(error.reason)",
            hint: "name a folder that is yours", status: .localIO)
    }

    /// The name of a recording's file, without folders, its extension and controls.
    static func name(of file: String) -> String {
        guard file != "-" else { return "standard-input" }
        var name = String(file.split(separator: "/").last ?? "recording")
        if let dot = name.lastIndex(of: "."), dot > name.startIndex { name = String(name[..<dot]) }
        var result = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            let isHarmless =
                TerminalText.sanitized(String(scalar)) == String(scalar)
                && !["\n", "\t", "\u{2028}", "\u{2029}"].contains(scalar)
            result.append(isHarmless ? scalar : "_")
        }
        return String(result)
    }
}
