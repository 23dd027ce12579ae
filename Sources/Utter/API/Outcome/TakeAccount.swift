// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import TakeStore

/// Every sample of a take, at each stage.
///
/// `capturedFrames + gapFrames = encodedFrames`, `encodedBytes = journaledBytes`, and
/// `sentBytes = journaledBytes - bodyOffset` when the last attempt took the whole body.
public struct TakeAccount: Sendable, Equatable {
    /// Frames at 16 kHz that came from the source.
    public var capturedFrames: Int
    /// Frames that were lost and became silence.
    public var gapFrames: Int
    /// Frames that went into the encoder.
    public var encodedFrames: Int
    /// Bytes that came out of the encoder.
    public var encodedBytes: Int
    package internal(set) var journaledBytes: Int
    /// The journal's byte at which the body begins.
    package let bodyOffset: Int
    /// Bytes of the journal that the last attempt's connection took, and those before them that the
    /// service had from earlier ones.
    public var sentBytes: Int
    /// Bytes of the body that it took: with what stands around the recording, and in base64.
    package let wireBytes: Int
    /// The SHA-256 of the journal in hexadecimal.
    package internal(set) var sha256: String
}

extension TakeAccount {
    /// Gathers what each stage says; a journal that was never sealed holds nothing that counts.
    init(
        _ capture: CaptureAccount, _ seal: JournalSeal?, bodyOffset: Int, _ attempt: TakeAttempt?,
        stored: (audio: Int, body: Int)? = nil
    ) {
        self.init(
            capturedFrames: capture.capturedFrames, gapFrames: capture.gapFrames,
            encodedFrames: capture.encodedFrames, encodedBytes: capture.encodedBytes,
            journaledBytes: seal?.byteCount ?? 0, bodyOffset: bodyOffset,
            sentBytes: stored.map { min($0.audio, max(0, (seal?.byteCount ?? 0) - bodyOffset)) }
                ?? attempt?.result.sentByteCount ?? 0,
            wireBytes: stored?.body
                ?? attempt.map { $0.result.bodyStart + $0.result.wireByteCount } ?? 0,
            sha256: seal?.sha256 ?? "")
    }

    /// The circumstances of a take that decide which of its numbers must agree.
    struct Circumstances {
        /// The length of all holes that are listed; nil when an earlier run has recorded, whose
        /// list is gone.
        var listedGapFrames: Int?
        /// Whether everything that was captured was to be encoded: a take that is cancelled, or
        /// whose encoder broke, ends before.
        var isEncodedWhole = true
        /// Whether disk or memory took everything that was encoded.
        var isJournaledWhole = true
        /// Whether the last attempt took the whole body, and was answered.
        var isSentWhole = false
    }

    /// The difference between a stage and the one before, as a sentence without capital and full
    /// stop; nil when they agree.
    func imbalance(_ circumstances: Circumstances) -> String? {
        let known = capturedFrames + gapFrames
        let isEncodedRight =
            circumstances.isEncodedWhole ? encodedFrames == known : encodedFrames <= known
        guard isEncodedRight else {
            return "\(capturedFrames) frames were captured and \(gapFrames) lost, "
                + "but \(encodedFrames) encoded"
        }
        let listed = circumstances.listedGapFrames ?? gapFrames
        guard listed == gapFrames else {
            return "\(gapFrames) frames were lost, but the gaps are \(listed) frames long"
        }
        let isJournaledRight =
            circumstances.isJournaledWhole
            ? journaledBytes == encodedBytes : journaledBytes <= encodedBytes
        guard isJournaledRight else {
            return "\(encodedBytes) bytes were encoded, but \(journaledBytes) are in the journal"
        }
        let body = max(0, journaledBytes - bodyOffset)
        guard !circumstances.isSentWhole || sentBytes == body else {
            return "\(body) bytes were to be sent, but \(sentBytes) were"
        }
        guard !circumstances.isJournaledWhole || journaledBytes == 0 || sha256.utf8.count == 64
        else {
            return "the journal has \(journaledBytes) bytes, but no SHA-256"
        }
        return nil
    }
}
