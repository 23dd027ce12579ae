// SPDX-License-Identifier: Apache-2.0

public import AudioCapture
public import AudioEncoding
public import ChunkedUpload
public import SpeechService

/// Everything that is decided before a take begins.
public struct TakePlan: Sendable {
    /// Where the voice comes from; used by this take alone.
    public var source: any CaptureSource
    /// How the audio travels.
    public var format: AudioFormat
    /// Where it goes, and how the answer is read.
    public var service: RecognitionService
    /// How long the recording may and must be.
    public var capture: CapturePlan
    /// How long each part of a transfer may take.
    public var deadlines: TransferDeadlines
    /// Origins beside the service's own to which a 307 or 308 may lead; the key and the audio go
    /// there.
    public var redirectOrigins: [Origin]
    /// A file of PEM certificates to trust instead of the system's, or nil.
    public var certificateFile: String?

    /// Creates a plan; what is not given is the default that suits a person speaking.
    public init(
        source: any CaptureSource, service: RecognitionService, format: AudioFormat = .pcm,
        capture: CapturePlan = CapturePlan(), deadlines: TransferDeadlines = TransferDeadlines(),
        redirectOrigins: [Origin] = [], certificateFile: String? = nil
    ) {
        self.source = source
        self.service = service
        self.format = format
        self.capture = capture
        self.deadlines = deadlines
        self.redirectOrigins = redirectOrigins
        self.certificateFile = certificateFile
    }
}
