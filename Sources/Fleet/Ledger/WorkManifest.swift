// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import SpeechService
package import TakeStore

/// Why a manifest is not worked on.
package struct ManifestMistake: Error, Sendable, Equatable {
    package let reason: String

    package init(reason: String) { self.reason = reason }
}

/// What a worker takes out of a manifest, which comes from outside and is not trusted.
///
/// Members that are not named here are not looked at: an address, a command, a header field or a file
/// of a service can stand in a manifest, and means nothing.
package struct WorkManifest: Sendable, Equatable {
    package let id: TakeID
    /// Of the audio, below the prefix.
    package let audio: String
    /// Such as `wav`: the ending of the file that a worker reads.
    package let format: String
    package let byteCount: Int
    /// 64 digits; nil where `tag` stands for it.
    package let sha256: String?
    /// The store's own mark of the object's contents.
    package let tag: String?
    /// Of the sound; zero when that is not known.
    package let seconds: Double
    /// The name of the service; nil leaves it to the worker.
    package let profile: String?
    package let words: [String: String]

    /// In bytes: a manifest of ours has 600.
    package static let byteLimit = 64 << 10
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

    /// Reads the manifest of a take, whose name its key has said.
    ///
    /// - Parameters:
    ///   - bytes: the object.
    ///   - key: its name below the prefix.
    ///   - limit: the most bytes of audio.
    /// - Throws: `ManifestMistake` for one that is not worked on.
    package init(_ bytes: [UInt8], at key: String, limit: Int) throws(ManifestMistake) {
        guard let id = FleetLayout.take(ofManifest: key) else {
            throw ManifestMistake(reason: "its key is not that of a manifest")
        }
        guard bytes.count <= Self.byteLimit else {
            throw ManifestMistake(reason: "the manifest has more than \(Self.byteLimit) bytes")
        }
        guard let raw = decoded(Raw.self, bytes) else {
            throw ManifestMistake(reason: "the manifest cannot be read")
        }
        guard raw.id == id.text else {
            throw ManifestMistake(reason: "the manifest is that of another take")
        }
        guard raw.encrypted != true else {
            throw ManifestMistake(reason: "the take is encrypted, and workers have no key")
        }
        guard raw.byteCount > 0, raw.byteCount <= limit else {
            throw ManifestMistake(
                reason: "the audio has \(raw.byteCount) bytes, of at most \(limit)")
        }
        guard raw.format.wholeMatch(of: /[a-z0-9-]{1,8}/) != nil else {
            throw ManifestMistake(reason: "the format is not one")
        }
        (self.id, byteCount, format) = (id, raw.byteCount, raw.format)
        (sha256, tag, seconds) = try Self.contents(raw)
        audio = try Self.audio(raw, beside: key)
        (profile, words) = try Self.service(raw)
    }

    private static func contents(
        _ raw: Raw
    ) throws(ManifestMistake) -> (String?, String?, Double) {
        guard raw.sha256?.wholeMatch(of: /[0-9a-f]{64}/) != nil || raw.sha256 == nil else {
            throw ManifestMistake(reason: "the digest is not one")
        }
        guard raw.etag?.wholeMatch(of: /"[!#-~]{1,198}"/) != nil || raw.etag == nil else {
            throw ManifestMistake(reason: "the tag of the audio is not one")
        }
        guard raw.sha256 != nil || raw.etag != nil && raw.audio != nil else {
            throw ManifestMistake(reason: "the manifest has no digest")
        }
        let seconds = raw.seconds ?? raw.frames.map { Double($0) / 16_000 } ?? 0
        guard seconds >= 0, seconds < 1e7 else {
            throw ManifestMistake(reason: "the duration is not one")
        }
        return (raw.sha256, raw.etag, seconds)
    }

    private static func audio(
        _ raw: Raw, beside key: String
    ) throws(ManifestMistake) -> String {
        guard let audio = raw.audio else {
            // As the archive names its files.
            let ending = AudioCodec(rawValue: raw.format)?.fileExtension ?? raw.format
            return String(key.dropLast("json".count)) + ending
        }
        let isOwn = FleetLayout.own.contains(where: audio.hasPrefix)
        guard FleetLayout.isHarmless(audio), !isOwn else {
            throw ManifestMistake(reason: "the audio's name is not one below the prefix")
        }
        return audio
    }

    private static func service(
        _ raw: Raw
    ) throws(ManifestMistake) -> (String?, [String: String]) {
        guard raw.profile.map(isServiceName) ?? true else {
            throw ManifestMistake(reason: "the service is not a name")
        }
        let words = raw.words ?? [:]
        for (name, value) in words {
            guard ProfileWord.usual.contains(name) else {
                throw ManifestMistake(reason: "a word is not one that a manifest may say")
            }
            guard value.utf8.count <= wordLimit, !FleetLayout.hasControl(value) else {
                throw ManifestMistake(reason: "the word '\(name)' has a value that is not one")
            }
        }
        return (raw.profile, words)
    }

    /// Whether a text is the name of a service, and no file's.
    package static func isServiceName(_ name: String) -> Bool {
        name.wholeMatch(of: /[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}/) != nil && !name.hasSuffix(".toml")
    }
}
