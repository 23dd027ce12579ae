// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import SpeechService
internal import TakeStore

/// Why a manifest is not worked on.
package struct ManifestMistake: Error, Sendable, Equatable {
    package let reason: String

    package init(reason: String) { self.reason = reason }
}

/// The worker's part of a manifest, which comes from outside and is not trusted.
///
/// Members that are not named here are not looked at: an address, a command, a header field or a file
/// of a service can stand in a manifest, and means nothing.
package struct WorkManifest: Sendable, Equatable {
    let id: TakeID
    /// The audio's name, below the prefix.
    let audio: String
    /// Such as `wav`: the ending of the file that a worker reads.
    let format: String
    let byteCount: Int
    /// 64 digits; nil where `tag` stands for it.
    let sha256: String?
    /// The store's own mark of the object's contents.
    let tag: String?
    /// Length of the sound; zero when it is not known.
    let seconds: Double
    /// The name of the service; nil leaves it to the worker.
    let profile: String?
    let words: [String: String]

    /// In bytes: a manifest of ours has 600.
    static let byteLimit = 64 << 10
    private static let wordLimit = 4_096

    /// A manifest as it is written.
    struct Raw: Codable {
        var version: Int?
        var id: String
        var created: String?
        var format: String
        var byteCount: Int
        var sha256: String?
        var etag: String?
        var encrypted: Bool?
        var frames: Int?
        var seconds: Double?
        var profile: String?
        var words: [String: String]?
        var audio: String?
    }

    /// Reads the manifest of a take, whose name its key has said; `limit` is of the audio, in bytes.
    init(_ bytes: [UInt8], at key: String, limit: Int) throws(ManifestMistake) {
        guard let id = FleetLayout.take(ofManifest: key) else {
            throw ManifestMistake(reason: "its key is not that of a manifest")
        }
        try Self.demand(
            bytes.count <= Self.byteLimit, "the manifest has more than \(Self.byteLimit) bytes")
        guard let raw = decoded(Raw.self, bytes) else {
            throw ManifestMistake(reason: "the manifest cannot be read")
        }
        try Self.demand(raw.id == id.text, "the manifest is that of another take")
        try Self.demand(
            raw.encrypted != true, "the take is encrypted, and workers have no key")
        try Self.demand(
            raw.byteCount > 0 && raw.byteCount <= limit,
            "the audio has \(raw.byteCount) bytes, of at most \(limit)")
        try Self.demand(
            raw.format.wholeMatch(of: /[a-z0-9-]{1,8}/) != nil, "the format is not one")
        try Self.demand(
            raw.sha256.map { $0.wholeMatch(of: /[0-9a-f]{64}/) != nil } ?? true,
            "the digest is not one")
        try Self.demand(
            raw.etag.map { $0.wholeMatch(of: /"[!#-~]{1,198}"/) != nil } ?? true,
            "the tag of the audio is not one")
        try Self.demand(
            raw.sha256 != nil || raw.etag != nil && raw.audio != nil,
            "the manifest has no digest")
        let seconds = raw.seconds ?? raw.frames.map { Double($0) / 16_000 } ?? 0
        try Self.demand(seconds >= 0 && seconds < 1e7, "the duration is not one")
        try Self.demand(raw.profile.map(Self.isServiceName) ?? true, "the service is not a name")
        // As the archive names its files.
        let ending = AudioCodec(rawValue: raw.format)?.fileExtension ?? raw.format
        let audio = raw.audio ?? key.dropLast("json".count) + ending
        try Self.demand(
            FleetLayout.isHarmless(audio) && !FleetLayout.own.contains(where: audio.hasPrefix),
            "the audio's name is not one below the prefix")
        for (name, value) in raw.words ?? [:] {
            try Self.demand(
                ProfileWord.usual.contains(name), "a word is not one that a manifest may say")
            try Self.demand(
                value.utf8.count <= Self.wordLimit && !FleetLayout.hasControl(value),
                "the word '\(name)' has a value that is not one")
        }
        (self.id, self.audio, self.seconds) = (id, audio, seconds)
        (byteCount, format, sha256, tag) = (raw.byteCount, raw.format, raw.sha256, raw.etag)
        (profile, words) = (raw.profile, raw.words ?? [:])
    }

    private static func demand(_ isSo: Bool, _ mistake: String) throws(ManifestMistake) {
        if !isSo { throw ManifestMistake(reason: mistake) }
    }

    /// Whether a text is the name of a service, and no file's.
    package static func isServiceName(_ name: String) -> Bool {
        name.wholeMatch(of: /[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}/) != nil && !name.hasSuffix(".toml")
    }
}
