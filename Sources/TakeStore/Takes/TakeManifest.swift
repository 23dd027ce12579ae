// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
package import FoundationEssentials
package import TextRules

/// The description of a take: the file `take.json` in its folder, one JSON object.
///
/// Readers ignore members they do not know; `version` changes when a reader of the old form
/// would be wrong. Other modules read the members, and change them by what happens to a take
/// (`TakeManifest+Changes`).
package struct TakeManifest: Sendable, Codable, Equatable {
    static let currentVersion = 2
    /// The most transfers that are remembered: the newest.
    static let historyLimit = 16
    static let reasonLimit = 2_000

    package enum State: String, Sendable, Codable {
        /// Audio is still being captured, or the program died while it was.
        case recording
        /// The audio is complete; no answer yet.
        case sealed
        /// The audio is complete and on its way: the process `holder` sends it, or has died.
        case sending
        /// The transcript is below; the audio may be gone.
        case answered
        /// No answer; the audio waits to be sent again. `reason` says why.
        case kept
        case cancelled
    }

    var version = currentVersion
    package private(set) var id: TakeID
    package internal(set) var state: State
    /// When it began, in ISO 8601, UTC.
    package internal(set) var created: String
    package internal(set) var audio: String
    /// The form in which it was recorded, such as `pcm`.
    package internal(set) var format: String
    package internal(set) var source: String
    /// The file that was sent; nil for a voice, and for one that was delivered at once.
    package internal(set) var file: SentFile?
    /// Where it is sent, for a person: without query and credentials.
    package internal(set) var url: String
    /// How it is delivered; nil while that is encrypted.
    package internal(set) var delivery: DeliveryManifest?
    package internal(set) var byteCount: Int?
    package internal(set) var sha256: String?
    /// Frames at 16 kHz in the audio, silence in place of gaps included, once it is complete.
    package internal(set) var frames: Int?
    /// Frames of them that are silence in place of what was lost.
    package internal(set) var gapFrames: Int?
    /// Where the person has let the recording pause; nil is nowhere.
    package internal(set) var pauses: [TakePause]?
    /// Whether the take may have less than its source, such as a file, which was not read to its
    /// end as far as is known; nil is no, and of a microphone.
    package internal(set) var isPart: Bool?
    /// Whether the disk has less of the audio than was recorded: a full one has refused its end; nil is
    /// no, as far as was looked.
    package internal(set) var lacksEnd: Bool?
    /// An oddity of a source that was read to its end, such as a file with damage, for a person.
    package internal(set) var flaw: String?
    /// The process that records or sends the take; nil when it is done.
    ///
    /// For a person: whether it still lives is told by the folder's lock.
    package internal(set) var holder: Int32?
    /// How many transfers have been begun, over all processes.
    package internal(set) var attempts = 0
    package internal(set) var history: [TransferRecord]?
    /// How many of them the service may have taken whole; nil for none.
    package internal(set) var taken: Int?
    /// How far a job at the service has come; nil before its first step has been answered, and for
    /// a service without jobs.
    package internal(set) var progress: ExchangeProgress?
    /// How many deliveries in a row the service has failed, perhaps because of this take; nil is
    /// none.
    package internal(set) var failures: Int?
    /// Whether the take is not sent unasked any more, as the same request would fail again; nil is
    /// no.
    ///
    /// `reason` says what must change.
    package internal(set) var isHeld: Bool?
    /// Whether the transcript of an answered take has been handed over, so that its audio may be
    /// deleted; nil is no.
    var isReleased: Bool?
    /// For how many seconds the audio stays after that; nil for as long as is usual.
    package internal(set) var keepsAudioFor: Int?
    var peak: Double?
    package internal(set) var reason, transcript: String?
    /// The language that the service has heard, as it names it; nil where it does not say.
    package internal(set) var language: String?
    /// The text as the service wrote it, where rules have changed it; nil where it is the transcript.
    package internal(set) var raw: String?
    /// The first changes of those rules.
    package internal(set) var changes: [TextChange]?
    /// The text by time; nil of a take that has not been delivered.
    package internal(set) var story: TakeStory?
    /// The text before the person has edited it; nil where it was not edited.
    package internal(set) var unedited: String?
    /// The file beside this one that holds an answer that could not be read; nil without one.
    var unreadAnswer: String?
    /// Whether that answer is whole, and one to the whole recording, so that it can be read by
    /// another rule; nil is no.
    package internal(set) var isUnreadAnswerWhole: Bool?
    /// Whether the take had been answered before it was sent once more, and is so still unless a
    /// better answer comes; nil is no.
    package internal(set) var wasAnswered: Bool?
    /// Whether the person had cancelled the take when its program died, until it is at rest; nil is
    /// no.
    var isCancelled: Bool?
    package internal(set) var archive: ArchiveNote?
    /// The contents for the archive, of a take in its queue; nil for the take that was recorded.
    package internal(set) var archived: ArchivedContents?
    /// The part of an encrypted take that only its key opens; nil while it is in the members above.
    var secret: Data?

    /// The same take with another name, before it is on the disk.
    package func named(_ id: TakeID) -> TakeManifest {
        var manifest = self
        manifest.id = id
        return manifest
    }

    /// A take that is recorded from now on, from a source that may not be read to its end (`isPart`).
    package init(
        id: TakeID, created: Date, audio: String, format: String, source: String, url: String,
        delivery: DeliveryManifest? = nil, isPart: Bool = false
    ) {
        (self.id, state, self.created) = (id, .recording, UTCTime(created).iso8601)
        (self.audio, self.format, self.source) = (audio, format, source)
        (self.url, self.delivery, self.isPart) = (url, delivery, isPart ? true : nil)
    }

    /// Whether no process records or sends it any more.
    package var isAtRest: Bool { ![.recording, .sealed, .sending].contains(state) }

    /// Where the last transfer went, or where the first one would.
    package var lastURL: String { history?.last?.url ?? url }

    /// Whether the service may have the take, or a stretch of it, although no answer of it came that
    /// could be read.
    package var mayBeDelivered: Bool {
        let mayHaveStretch = progress.map { !$0.isAtService && $0.unknown != nil } ?? false
        return (taken ?? 0) > 0 && state != .answered && (isHeld != true || mayHaveStretch)
    }

    package var isDoubtful: Bool { mayBeDelivered && delivery?.unknownOutcome != nil }

    /// This many failures in a row are no reason to wait: the first may have been anything.
    private static let freeFailures = 1
    /// The pause after the next one, which each more doubles.
    private static let firstPause = 900.0
    private static let longestPause = 86_400.0

    /// When a take that the service has failed with is sent unasked again; nil when it may be now.
    package var nextTry: Date? {
        guard let failures, failures > Self.freeFailures, let ended = history?.last?.ended,
            // No wait for a time that cannot be read.
            let last = try? Date(ended, strategy: .iso8601)
        else { return nil }
        let pause = Self.firstPause * Double(1 << min(failures - Self.freeFailures - 1, 10))
        return last + min(pause, Self.longestPause)
    }

    /// Whether it waits for an answer, at rest or not.
    package var isWaiting: Bool { state != .answered && state != .cancelled }

    /// Whether the text was handed over, so that the audio may be deleted: once it is in the queue of
    /// the archive.
    var isReleasedAnswer: Bool {
        state == .answered && isReleased == true && !isUnarchived
    }

    /// Whether the archive is to get it, and no queue has it yet.
    package var isUnarchived: Bool { archive?.isQueued == false }

    /// Whether no number is one that this program could not have written.
    var isPlausible: Bool {
        let counts = [
            byteCount, frames, gapFrames, attempts, taken, failures, keepsAudioFor,
        ].map { $0 ?? 0 }
        return counts.allSatisfy { (0...(1 << 48)).contains($0) } && attempts < 1 << 30
    }

    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [0x0A]
    }
}

/// The part of the manifest of an encrypted take that cannot be read without the key.
private struct SecretPart: Codable {
    var source: String
    var delivery: DeliveryManifest?
    var history: [TransferRecord]?
    var progress: ExchangeProgress?
    var reason, transcript, language, raw, unedited: String?
    var changes: [TextChange]?
    var story: TakeStory?
    /// It would tell whether a known recording is the same.
    var sha256: String?
    /// So would this.
    var file: SentFile?
    var archived: ArchivedContents?
}

extension TakeManifest {
    /// Whether the take's audio is encrypted, and with it what says something of its content.
    package var isEncrypted: Bool { audio.hasSuffix(TakeFolder.encryptedSuffix) }

    /// Whether its encrypted part could not be read, for want of the right key.
    package var isLocked: Bool { secret != nil }

    /// Puts what a person has said, and what was said about it, into a box.
    ///
    /// A manifest that is locked stays as it is.
    mutating func lock(with key: EncryptionKey) throws {
        guard !isLocked else { return }
        let part = SecretPart(
            source: source, delivery: delivery, history: history, progress: progress,
            reason: reason, transcript: transcript, language: language, raw: raw,
            unedited: unedited,
            changes: changes, story: story, sha256: sha256, file: file, archived: archived)
        secret = Data(try key.seal(Array(try JSONEncoder().encode(part)), for: boxContext))
        (source, delivery, history, reason, transcript) = ("", nil, nil, nil, nil)
        (language, raw, unedited, changes, story) = (nil, nil, nil, nil, nil)
        (sha256, progress, file, archived) = (nil, nil, nil, nil)
    }

    mutating func unlock(with key: EncryptionKey) throws(EncryptionError) {
        guard let bytes = secret.map({ Array($0) }) else { return }
        let content = try key.open(bytes, for: boxContext)
        // A part that we have sealed can be read, unless a later program has sealed it.
        guard let part = try? JSONDecoder().decode(SecretPart.self, from: Data(content))
        else { throw .damaged }
        (source, delivery, history) = (part.source, part.delivery, part.history)
        (reason, transcript, sha256) = (part.reason, part.transcript, part.sha256)
        (language, raw, unedited, changes) = (part.language, part.raw, part.unedited, part.changes)
        story = part.story
        (progress, file, archived, secret) = (part.progress, part.file, part.archived, nil)
    }

    /// A box opens only in the manifest of its own take.
    private var boxContext: [UInt8] { Array("take.json \(id.text)".utf8) }
}

package struct TransferRecord: Sendable, Codable, Equatable {
    /// Its number, from 1; goes on over all processes that send the take.
    package let number: Int
    /// Where it went, without query and credentials; nil when the take was meant to go there.
    package internal(set) var url: String?
    package let begun: String
    /// When it had ended; nil while it runs, and when its process died.
    package private(set) var ended: String?
    /// How it ended, for a person; nil while that is not known.
    package private(set) var ending: String?
    package private(set) var status: Int?
    /// Whether the service may have had the whole take; nil while that is not known.
    private(set) var wasWhole: Bool?

    init(number: Int, begun: Date, url: String? = nil) {
        (self.number, self.url, self.begun) = (number, url, UTCTime(begun).iso8601)
    }

    mutating func end(_ ending: String, at date: Date, status: Int?, wasWhole: Bool) {
        (self.ending, ended) = (String(ending.prefix(Self.endingLimit)), UTCTime(date).iso8601)
        (self.status, self.wasWhole) = (status, wasWhole)
    }

    private static let endingLimit = 200
}

/// A time in which the microphone was closed, since a person had asked for that.
package struct TakePause: Sendable, Codable, Equatable {
    /// The place in the recording, in frames at 16 kHz.
    package let frame: Int
    package let begun: String
    /// When it was over; nil when the recording ended in it.
    package internal(set) var ended: String?
}

package struct SentFile: Sendable, Codable, Hashable {
    package let byteCount: Int
    /// Its SHA-256 in hexadecimal.
    var sha256: String

    package init(byteCount: Int, sha256: String) {
        (self.byteCount, self.sha256) = (byteCount, sha256)
    }
}

/// How far a job at a service has come, so that another process goes on with it.
///
/// A part of `take.json`, and of its encrypted part when the take is encrypted.
package struct ExchangeProgress: Sendable, Codable, Equatable {
    /// The step that is next, by its name.
    package let step: String
    /// Values that earlier steps have captured, such as the job's id.
    package internal(set) var values: [String: String]
    /// A fingerprint of the job's requests: it goes on only with the same.
    package internal(set) var plan: String
    /// How often the service may have carried that step out, without an answer; nil is never.
    package internal(set) var unknown: Int?

    /// The step of a recording that is cut into stretches, and the value that says where.
    package static let stretches = "stretches"

    /// Whether the service may hold something of the take that it is to drop.
    package var isAtService: Bool { step != Self.stretches }

    /// Where the recording was cut, without the words; nil for any other progress.
    var cuts: ExchangeProgress? {
        guard step == Self.stretches else { return nil }
        var cuts = self
        cuts.values = values.filter { $0.key == Self.stretches }
        return cuts
    }

    package init(step: String, values: [String: String], plan: String, unknown: Int? = nil) {
        (self.step, self.values, self.plan, self.unknown) = (step, values, plan, unknown)
    }
}
