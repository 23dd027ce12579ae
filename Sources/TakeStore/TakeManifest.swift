// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// What is known of one take: the file `take.json` in its folder, one JSON object.
///
/// Readers ignore members they do not know; `version` changes when a reader of the old form
/// would be wrong. The file is at most 1 MiB.
public struct TakeManifest: Sendable, Codable, Equatable {
    /// The form that this program writes.
    public static let currentVersion = 1

    /// How far a take has come.
    public enum State: String, Sendable, Codable {
        /// Audio is still being captured, or the program died while it was.
        case recording
        /// The audio is complete; no answer yet.
        case sealed
        /// The transcript is below; the audio may be gone.
        case answered
        /// No answer; the audio waits to be sent again. `reason` says why.
        case kept
        /// The person cancelled it.
        case cancelled
    }

    /// The form of this file.
    public var version = Self.currentVersion
    /// The take's name, also its folder's.
    public var id: TakeID
    /// How far it has come.
    public var state: State
    /// When it began, in ISO 8601, UTC.
    public var created: String
    /// The name of the audio file in the same folder.
    public var audio: String
    /// How the audio is sent: `pcm`, `wav` or `ogg-opus`.
    public var format: String
    /// Where it was recorded from.
    public var source: String
    /// Where it is sent, without query and credentials.
    public var url: String
    /// The audio's length in bytes, once it is complete.
    public var byteCount: Int?
    /// The audio's SHA-256 in hexadecimal, once it is complete.
    public var sha256: String?
    /// Frames at 16 kHz in the audio, silence in place of gaps included, once it is complete.
    public var frames: Int?
    /// Frames of them that are silence in place of what was lost.
    public var gapFrames: Int?
    /// How many transfers have been made.
    public var attempts = 0
    /// How many of them the service may have taken whole; nil is none.
    public var taken: Int?
    /// Why there is no answer, for a person.
    public var reason: String?
    /// The transcript.
    public var transcript: String?

    /// Begins a manifest in the state `recording`.
    public init(
        id: TakeID, created: Date, audio: String, format: String, source: String, url: String
    ) {
        self.id = id
        state = .recording
        self.created = UTCTime(created).iso8601
        self.audio = audio
        self.format = format
        self.source = source
        self.url = url
    }

    /// The file's bytes.
    ///
    /// - Throws: `EncodingError` never, as long as every member is a string or a number.
    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [0x0A]
    }
}
