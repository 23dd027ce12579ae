// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import Glibc
public import LinuxPlatform
public import TakeStore

/// A recording on its way to its transcript.
///
/// Usable from any thread.
public final class Take: Sendable {
    let run: TakeRun

    init(run: TakeRun) { self.run = run }

    /// The take's name.
    public var id: TakeID { run.id }

    package var began: ContinuousClock.Instant { run.meter.began }

    /// The take's events, in order, until the outcome is known; for a new listener each time.
    ///
    /// A listener begins with what has happened before, and one that comes after the end is told it,
    /// too. At most 256 events are kept for that, and as many for each listener that is slow: of
    /// progress the newest, of long transcripts the newest alone, then of transcripts and at last of
    /// all events the oldest are dropped. No listener holds the take up.
    public var events: AsyncStream<TakeEvent> { run.events.stream }

    package var delivery: DeliveryPlan { run.plan }

    /// How the take ended.
    ///
    /// Waits until it has.
    public var outcome: TakeOutcome {
        get async { await run.settlement.value }
    }

    /// Ends the recording: the device is drained, a short tail follows, the answer is awaited.
    public func stop() { run.handle(.stop) }

    /// Takes `stop` back, or ends a pause: a press inside the tail goes on with the same take.
    ///
    /// Two events may follow. `resumed` says that it was in time: nothing between is missing, but for
    /// what was said in a pause. After `captured` it came too late, and the take ends as if it had not
    /// been called; who wants to speak on starts another. A take that ends for another reason than
    /// `stop` goes on to end, and so does one whose microphone cannot be opened again.
    public func resume() { run.handle(.resume) }

    /// Closes the microphone after a short tail, until `resume` or the end of the take; a file is not
    /// read on.
    ///
    /// `paused` follows, unless the take ends first.
    /// Where a service takes a recording in stretches, the request ends after 5 s, and what follows the
    /// pause goes into another one; other requests wait.
    public func pause() { run.handle(.pause) }

    /// Ends the tail at once: what the device holds is the end of the take.
    package func endTail() { run.handle(.endTail) }

    /// Ends recording and transfer at once, without an end of the body; the audio is kept.
    public func cancel() { run.handle(.cancel) }

    /// Ends recording and transfer at once, to be sent another time.
    public func leave() { run.handle(.leave) }

    /// Says that the caller has the answer: the take's audio may be deleted, at once or after a
    /// time.
    ///
    /// Does nothing when there is no answer. Until then the audio stays on the disk.
    ///
    /// - Parameter time: how long the audio stays, instead of the pipeline's retention.
    public func release(keepingAudioFor time: Duration? = nil) {
        guard let record = run.record, let spool = run.pipeline.spool else { return }
        if record.release(keeping: spool.rules.retention.audio, time) { run.pipeline.released(id) }
    }

    /// Writes the audio to a new file that its owner alone can read, with silence for what the disk
    /// does not give back.
    ///
    /// For a take that lives in memory, or ends there. Blocks on the disk.
    ///
    /// - Returns: how long the silence is.
    /// - Throws: `SystemError`; `EEXIST` when there is such a file. No file is left then.
    @discardableResult
    public func writeAudio(to path: String) throws(SystemError) -> Duration {
        guard let journal = run.journal else {
            throw SystemError(call: "write \(path)", code: ENODATA)
        }
        let format = run.plan.format
        let recoverer = format.makeRecoverer(false)
        var hole: FileHole?
        if try journal.readAnyway({ recoverer.append($0) }) > 0 {
            // Without memory for it, zeros stay.
            hole = try? recoverer.finish().hole
        }
        let lost = try journal.export(
            to: path, with: hole?.bytes ?? [], insteadOf: hole?.replacedByteCount ?? 0,
            at: hole?.offset ?? 0)
        return .seconds(Double(lost) / Double(format.nominalByteRate))
    }

    /// Waits until the disk has what the take leaves on it; the outcome says so if it has not.
    ///
    /// In haste it waits for a second: the process is asked to end, and will be killed soon.
    package func confirmed(
        _ outcome: TakeOutcome, isInHaste: Bool = false
    ) async -> TakeOutcome {
        guard let record = run.record, outcome.unprotected == nil,
            outcome.account.capturedFrames > 0
        else { return outcome }
        let answer = Settlement<ManifestWriter.Safety>()
        // Behind all that the end of the take has asked for.
        record.tellSafety { answer.settle($0) }
        let deadline = ContinuousClock.now + .seconds(isInHaste ? 1 : 5)
        var outcome = outcome
        switch await answer.value(by: deadline, or: .unconfirmed) {
        case .durable: break
        case .unconfirmed: outcome.isConfirmed = false
        case .refused(let reason): outcome.unprotected = reason
        }
        return outcome
    }

    /// The extension of the audio's file name, without the dot.
    public var audioExtension: String { run.plan.format.fileExtension }
}
