// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore

/// The second half of a capture stage: encoder → ring, with silence in the place of what was lost.
///
/// Called on the capture thread alone. After the first second nothing is allocated.
final class EncodedOutput {
    private let encoder: any AudioEncoder
    private let producer: ByteRing.Producer
    private let account: CaptureAccount
    private var ledger = GapLedger()
    private var encoded: [UInt8] = []
    private var isFirst = true
    private let silence: [Int16]

    /// Joins an encoder and an empty ring; silence is encoded `framesAtOnce`.
    init(
        encoder: any AudioEncoder, producer: consuming ByteRing.Producer, account: CaptureAccount,
        framesAtOnce: Int
    ) {
        self.encoder = encoder
        self.producer = producer
        self.account = account
        silence = [Int16](repeating: 0, count: framesAtOnce)
    }

    /// Whether this turn has news for the readers of the ring: it was written to or finished.
    private(set) var didWrite = false
    /// Whether the ring's consumer should come at once, and not when it would by itself: for the first
    /// bytes, for a ring that is half full, for a source that waits, and for the end.
    private(set) var isUrgent = false

    func beginTurn() { (didWrite, isUrgent) = (false, false) }

    var gaps: [Gap] { ledger.gaps }

    var owesSilence: Bool { ledger.owed > 0 }

    func hasRoom(forFrames count: Int) -> Bool {
        producer.freeByteCount >= encoder.maximumByteCount(forFrames: count)
    }

    /// If false, the ring's consumer wakes the capture loop later.
    func awaitDrain() -> Bool { producer.awaitDrain() }

    /// Returns what `awaitDrain` does, and has the consumer come for it.
    func callForDrain() -> Bool {
        let isDrained = awaitDrain()
        if !isDrained { (didWrite, isUrgent) = (true, true) }
        return isDrained
    }

    func begin() throws(EncodingError) {
        encoded.reserveCapacity(encoder.maximumByteCount(forFrames: 2 * silence.count))
        try encoder.begin(into: &encoded)
    }

    /// Without room in the ring everything becomes a gap, since a live source cannot wait.
    func encodeOrOwe(_ speech: borrowing [Int16]) throws(EncodingError) {
        guard try writeSilence(), hasRoom(forFrames: speech.count) else {
            account.addCaptured(-speech.count)
            return owe(speech.count, cause: .ringFull)
        }
        try encode(speech, first: speech.count)
        _ = pushOut()
    }

    /// Counts lost frames of the source's rate; returns them as frames at 16 kHz, `most` at most.
    func lose(_ frames: Int, _ cause: Gap.Cause, sampleRate: Int, most: Int) -> Int {
        let lost = min(ledger.speechFrames(lost: frames, sampleRate: sampleRate), most)
        owe(lost, cause: cause)
        return lost
    }

    func finishEncoding(_ speech: borrowing [Int16]) throws(EncodingError) {
        try encode(speech, first: speech.count)
        try encoder.finish(into: &encoded)
    }

    /// Puts encoded bytes and owed silence into the ring; false without room.
    func settle() -> Bool {
        guard pushOut() else { return false }
        do throws(EncodingError) {
            return try writeSilence()
        } catch {
            // The encoder is broken; the take ends with what it gave.
            ledger.settle(ledger.owed)
            return true
        }
    }

    func pushOut() -> Bool {
        guard !encoded.isEmpty else { return true }
        guard producer.write(encoded.span) else { return false }
        isUrgent = isUrgent || isFirst || producer.isHalfFull
        isFirst = false
        account.addEncoded(frames: 0, bytes: encoded.count)
        encoded.removeAll(keepingCapacity: true)
        didWrite = true
        return true
    }

    func finish() {
        producer.finish()
        // The journal has to be told of the end, too.
        (didWrite, isUrgent) = (true, true)
    }

    private func encode(_ samples: borrowing [Int16], first count: Int) throws(EncodingError) {
        let piece = samples.span.extracting(first: count)
        account.powers?.add(piece)
        try encoder.encode(piece, into: &encoded)
        account.addEncoded(frames: count, bytes: 0)
    }

    private func owe(_ frames: Int, cause: Gap.Cause) {
        guard frames > 0 else { return }
        ledger.owe(frames, cause: cause, encoded: account.encodedFrames)
        account.addGap(frames)
    }

    /// As much of the owed silence as the ring has room for; true when none is owed.
    private func writeSilence() throws(EncodingError) -> Bool {
        while ledger.owed > 0 {
            let count = min(ledger.owed, silence.count)
            guard pushOut(), hasRoom(forFrames: count) else { return false }
            try encode(silence, first: count)
            ledger.settle(count)
        }
        return pushOut()
    }
}

/// Lost frames at 16 kHz, and how many of them are not yet silence.
struct GapLedger {
    /// The most gaps that are told apart.
    private static let limit = 1_000

    /// In order; after 1,000 the last one takes all that follow.
    private(set) var gaps: [Gap] = []
    /// Frames that still have to become silence.
    private(set) var owed = 0
    /// The remainder of rounding, in parts of the source's rate, so that many small losses add up.
    private var remainder = 0

    init() { gaps.reserveCapacity(16) }

    mutating func speechFrames(lost frames: Int, sampleRate: Int) -> Int {
        let parts = remainder + frames * StreamFormat.speech.sampleRate
        remainder = parts % sampleRate
        return parts / sampleRate
    }

    /// A loss behind `encoded` frames and the owed silence; adjacent losses are one gap.
    mutating func owe(_ frames: Int, cause: Gap.Cause, encoded: Int) {
        let start = encoded + owed
        owed += frames
        let goesOn = gaps.last.map { $0.cause == cause && $0.start + $0.frames == start } ?? false
        if goesOn || gaps.count == Self.limit {
            gaps[gaps.count - 1].frames += frames
        } else {
            gaps.append(Gap(cause: cause, start: start, frames: frames))
        }
    }

    mutating func settle(_ frames: Int) { owed -= frames }
}
