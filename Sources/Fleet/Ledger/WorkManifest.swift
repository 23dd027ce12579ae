// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import FoundationEssentials
internal import SpeechService
package import TakeStore

/// Why a manifest is not worked on.
package struct ManifestMistake: Error, Sendable, Equatable {
    package let reason: String
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

    private struct Raw: Decodable {
        var id: String
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
        // Whatever is wrong with it, it is not a manifest.
        guard let raw = try? JSONDecoder().decode(Raw.self, from: Data(bytes)) else {
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
        guard (1...8).contains(raw.format.utf8.count),
            raw.format.utf8.allSatisfy({
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
            })
        else { throw ManifestMistake(reason: "the format is not one") }
        (self.id, byteCount, format) = (id, raw.byteCount, raw.format)
        (sha256, tag, seconds) = try Self.contents(raw)
        audio = try Self.audio(raw, beside: key)
        (profile, words) = try Self.service(raw)
    }

    private static func contents(
        _ raw: Raw
    ) throws(ManifestMistake) -> (String?, String?, Double) {
        if let digest = raw.sha256 {
            let isDigit = { (byte: UInt8) in
                (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
            }
            guard digest.utf8.count == 64, digest.utf8.allSatisfy(isDigit) else {
                throw ManifestMistake(reason: "the digest is not one")
            }
        }
        if let tag = raw.etag {
            guard (3...200).contains(tag.utf8.count), tag.hasPrefix("\""), tag.hasSuffix("\""),
                tag.utf8.dropFirst().dropLast().allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x22 })
            else { throw ManifestMistake(reason: "the tag of the audio is not one") }
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
        let isOwn = FleetLayout.own
            .contains(where: audio.hasPrefix)
        guard FleetLayout.isHarmless(audio), !isOwn else {
            throw ManifestMistake(reason: "the audio's name is not one below the prefix")
        }
        return audio
    }

    private static func service(
        _ raw: Raw
    ) throws(ManifestMistake) -> (String?, [String: String]) {
        if let name = raw.profile {
            guard isServiceName(name) else {
                throw ManifestMistake(reason: "the service is not a name")
            }
        }
        let words = raw.words ?? [:]
        for (name, value) in words {
            guard ProfileWord.usual.contains(name) else {
                throw ManifestMistake(reason: "a word is not one that a manifest may say")
            }
            guard value.utf8.count <= wordLimit,
                value.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
            else { throw ManifestMistake(reason: "the word '\(name)' has a value that is not one") }
        }
        return (raw.profile, words)
    }

    /// Whether a text is the name of a service, and no file's.
    package static func isServiceName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && !name.hasSuffix(".toml") && !name.hasPrefix(".")
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                    || (0x61...0x7A).contains(byte) || "-_.".utf8.contains(byte)
            }
    }
}
