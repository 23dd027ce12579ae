// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import FoundationEssentials
public import SpeechService
internal import TakeStore

/// Where each answered take is stored: its audio, its text beside it, and what is known of it.
///
/// ```swift
/// let store = try Service("s3", words: ["bucket": "voices", "key": "{date}/{id}.{ext}"])
/// let spool = Spool(at: folder, archive: try Archive(store.delivery))
/// ```
///
/// In the URL, `{date}` stands for the day on which the take began, in UTC, `{id}` for its name, and
/// `{ext}` for `wav` or what the audio is, `txt`, and `json`. Nothing waits for the archive: what it is
/// to get lies in a queue on the disk until it has it, whatever becomes of the take.
public struct Archive: Sendable {
    /// The delivery; nil for an archive that cannot be used now: its takes wait.
    package let delivery: DeliveryPlan?
    /// As a person has said it, while it cannot be used.
    let unusablePlace: String?
    /// Whether takes that are encrypted on the disk are stored in the clear; otherwise they are stored
    /// as they lie there, and their text and what is known of them under the same key.
    public var decrypts = false

    /// Names a place that takes files, by how they get there: such as by the profiles `s3` and
    /// `webdav`.
    ///
    /// - Throws: `ServiceError.invalidURL` unless its URL has `{id}`, and ends in `.{ext}`.
    public init(_ delivery: DeliveryPlan) throws(ServiceError) {
        (self.delivery, unusablePlace) = (delivery, nil)
        let text = delivery.service.url.plainText
        guard text.contains("{id}"), text.prefix(while: { $0 != "?" }).hasSuffix(".{ext}") else {
            throw .invalidURL(
                text: ServiceURL.plain(delivery.service.url.description),
                reason: "an archive has a place for each take: with {id}, and .{ext} at its end")
        }
    }

    /// Names one that cannot be used now, so that what is answered meanwhile waits for it.
    package init(unusableAt place: String) { (delivery, unusablePlace) = (nil, place) }

    /// Whether its secrets can be had again when the queue is sent: none was typed.
    package var secretsCanBeAsked: Bool {
        delivery?.service.credentials.allSatisfy { $0.source != .given } ?? true
    }

    func contents(of manifest: TakeManifest) -> ArchivedContents? {
        guard let codec = AudioCodec(rawValue: manifest.format) else { return nil }
        let isHeard = manifest.transcript?.isEmpty == false
        let suffixes = [codec.fileExtension] + (isHeard ? ["txt"] : []) + ["json"]
        // A recording that a store was given has not been recognised.
        let delivery = isHeard ? manifest.delivery : nil
        let isClosed = manifest.isEncrypted && !decrypts
        return ArchivedContents(
            suffixes: suffixes.map { isClosed ? $0 + TakeFolder.encryptedSuffix : $0 },
            transcript: manifest.transcript, profile: delivery?.profileName,
            // Others may be those of a host or an account.
            words: delivery?.words.filter { ProfileWord.usual.contains($0.key) })
    }

    /// How the first object of a take is delivered; nil while the archive cannot be used.
    func plan(
        for manifest: TakeManifest, _ contents: ArchivedContents, _ suffix: String? = nil
    ) throws(ServiceError) -> DeliveryPlan? {
        guard var plan = delivery else { return nil }
        plan.service.url = try plan.service.url.naming(
            manifest.id, day: manifest.created.prefix(10), ext: suffix ?? contents.suffixes[0])
        return plan
    }
}

extension ServiceURL {
    /// With its marks as a person writes them.
    fileprivate static func plain(_ text: String) -> String {
        text.replacing("%7B", with: "{").replacing("%7D", with: "}")
    }

    fileprivate var plainText: String { Self.plain(text) }

    var namesTakes: Bool { plainText.contains("{id}") }

    /// With a take's name in the place of the marks.
    func naming(
        _ id: TakeID, day: some StringProtocol, ext: String
    ) throws(ServiceError) -> ServiceURL {
        let dated = plainText.replacing("{date}", with: String(day))
        return try ServiceURL(
            dated.replacing("{id}", with: id.text).replacing("{ext}", with: ext))
    }
}

extension TakeManifest {
    /// The take for the archive's queue.
    func queued(for archive: Archive) -> TakeManifest? {
        guard let contents = archive.contents(of: self),
            // An unusable place is refused before: a day and a take's name change nothing of that.
            let plan = try? archive.plan(for: self, contents) ?? nil
        else { return nil }
        return queued(contents, to: plan.service.url.description, by: plan.record)
    }

    /// Has a take of the queue stored at the archive of today's settings; false when it is that already.
    ///
    /// At another place it is stored with all that belongs to it.
    mutating func move(to archive: Archive) -> Bool {
        guard let contents = archived, let suffix = archivedSuffix,
            // An unusable place is refused before.
            var plan = try? archive.plan(for: self, contents, suffix) ?? nil,
            plan.record != delivery
        else { return false }
        if plan.service.url.description != url {
            // The place of the first object is as usable.
            plan = (try? archive.plan(for: self, contents) ?? plan) ?? plan
        }
        startAnew(at: plan.service.url.description, by: plan.record)
        return true
    }
}

/// The facts of a take in an archive, as the object `json`: no host, no path and no secret.
struct ArchivedTake: Encodable {
    let version = 1
    let id: String
    /// When it began, in ISO 8601, UTC.
    let created: String
    /// The form of the audio, such as `wav`.
    let format: String
    /// Bytes of the audio's object.
    let byteCount: Int
    let sha256: String
    let encrypted: Bool
    let sampleRate = 16_000
    let frames: Int
    let gapFrames: Int
    /// By which it was recognised.
    let profile: String?
    let words: [String: String]?

    var bytes: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self)) + [0x0A]
        }
    }
}
