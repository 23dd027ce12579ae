// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
internal import Glibc
package import TextRules

// All that happens to a take, roughly in order; pure, but for the number of this process.
extension TakeManifest {
    /// The first call for a number counts.
    package mutating func beginTransfer(_ number: Int, at date: Date, to target: String) {
        guard history?.contains(where: { $0.number == number }) != true else { return }
        attempts = max(attempts, number)
        let record = TransferRecord(number: number, begun: date, url: target == url ? nil : target)
        history = Array(((history ?? []) + [record]).suffix(Self.historyLimit))
    }

    /// The last transfer that was begun has not been made after all.
    package mutating func withdrawTransfer(_ number: Int) {
        guard let last = history?.last, last.number == number, last.ended == nil else { return }
        history = history?.count == 1 ? nil : history?.dropLast()
        attempts = number - 1
    }

    /// `wasWhole`: the service may have taken the whole take.
    package mutating func endTransfer(
        _ number: Int, _ ending: String, at date: Date, status: Int?, wasWhole: Bool
    ) {
        if wasWhole { taken = (taken ?? 0) + 1 }
        guard let index = history?.lastIndex(where: { $0.number == number }) else { return }
        history?[index].end(ending, at: date, status: status, wasWhole: wasWhole)
    }

    /// A job at the service has come so far; nil when nothing of it is left there.
    package mutating func reach(_ progress: ExchangeProgress?) { self.progress = progress }

    /// Changes how the take is delivered; `url` is the new one for a person.
    private mutating func redirect(to url: String, by delivery: DeliveryManifest) {
        if url != self.url {
            // Earlier transfers went to the old one.
            for index in (history ?? []).indices where history?[index].url == nil {
                history?[index].url = self.url
            }
        }
        (self.url, self.delivery, version) = (url, delivery, Self.currentVersion)
    }

    private static let mostPauses = 1_000

    /// The recording pauses at a frame, or goes on without one.
    package mutating func pause(at frame: Int?, _ date: Date) {
        let time = UTCTime(date).iso8601
        guard let frame else {
            if let last = pauses?.indices.last { pauses?[last].ended = time }
            return
        }
        let pause = TakePause(frame: frame, begun: time)
        pauses = Array(((pauses ?? []) + [pause]).prefix(Self.mostPauses))
    }

    /// The audio is complete; `isWhole`: with all of its source, of which `flaw` tells what is odd;
    /// `isSending`: on its way at once.
    package mutating func seal(
        _ seal: JournalSeal, frames: Int, gapFrames: Int, isWhole: Bool, flaw: String?,
        isSending: Bool
    ) {
        if state == .recording { state = isSending ? .sending : .sealed }
        (byteCount, sha256) = (seal.byteCount, seal.sha256)
        (self.frames, self.gapFrames) = (frames, gapFrames)
        if isWhole { (isPart, self.flaw) = (nil, flaw) }
    }

    /// Compares what was recorded with the file on the disk; an encrypted one is the longer.
    package mutating func compare(withFileOf size: Int) {
        if isAtRest, let byteCount, size < byteCount { lacksEnd = true }
    }

    /// Says of a take that is under way that its audio may not be complete yet.
    ///
    /// A take that is at rest stays as it is, since the audio that is there will be sent.
    package mutating func forgetSeal() {
        guard state == .sealed || state == .sending else { return }
        state = .recording
        (byteCount, sha256, frames, gapFrames) = (nil, nil, nil, nil)
    }

    /// The take is the whole of a file.
    package mutating func note(_ file: SentFile?) { self.file = file }

    /// A run has ended, in which the service may have taken the take so often.
    package mutating func count(taken count: Int, peak decibels: Double?) {
        taken = count > 0 ? count : nil
        peak = decibels.map { ($0 * 10).rounded() / 10 } ?? peak
    }

    /// The text has come, and of the job so much is left at the service; `raw` is the service's own where
    /// rules have made `changes`; `shortfall` says what of the take the text lacks, `note` what else a
    /// person should know.
    ///
    /// A text that the person has edited stays; the new text takes the place of the one before the edit.
    package mutating func answer(
        _ text: String, in language: String? = nil, raw: String? = nil,
        changes: [TextChange]? = nil,
        leaving progress: ExchangeProgress? = nil, note: String? = nil,
        shortfall: String? = nil, story: TakeStory? = nil
    ) {
        if let shortfall, staysAnswered(despite: shortfall) { return }
        self.story = story
        let edited = unedited.map { _ in transcript ?? "" }
        transcript = text.isEmpty ? nil : text
        (self.language, self.raw, self.changes, unedited) = (language, raw, changes, nil)
        if let edited { edit(edited) }
        let left = progress ?? self.progress?.cuts
        (failures, self.progress, wasAnswered) = (nil, left?.cuts ?? left, nil)
        // The same request would have the same answer.
        isHeld = shortfall == nil ? nil : true
        if shortfall == nil { (unreadAnswer, isUnreadAnswerWhole) = (nil, nil) }
        keep(shortfall == nil ? .answered : .kept, reason: shortfall ?? note)
    }

    mutating func forgetText() {
        (transcript, language, raw, changes, unedited) = (nil, nil, nil, nil, nil)
        story = nil
    }

    /// The person has written the text anew; what stood there before the first time stays.
    package mutating func edit(_ text: String) {
        unedited = unedited ?? transcript ?? ""
        transcript = text.isEmpty ? nil : text
        if unedited == text { unedited = nil }
    }

    /// Rules that came later have made another text of the service's own.
    package mutating func rewrite(_ text: String, raw: String?, changes: [TextChange]?) {
        transcript = text.isEmpty ? nil : text
        (self.raw, self.changes) = (raw, changes)
    }

    /// No text has come.
    package mutating func fail(
        _ reason: String, isUnwanted: Bool, isForGood: Bool, isOfAnswer: Bool, mayBeTheTakes: Bool,
        story: TakeStory? = nil
    ) {
        if staysAnswered(despite: reason) { return }
        self.story = story
        // The state says enough of what was not wanted.
        keep(isUnwanted ? .cancelled : .kept, reason: isUnwanted ? nil : reason)
        // A broken upload can go on, other than one that was refused.
        let canGoOn = progress.map { ["upload", "parts"].contains($0.step) } ?? false
        isHeld = isForGood && !(canGoOn && isOfAnswer) ? true : nil
        if mayBeTheTakes || isHeld == nil && isOfAnswer { failures = (failures ?? 0) + 1 }
    }

    /// A take that was answered before stays answered, unless there is a better answer.
    private mutating func staysAnswered(despite reason: String) -> Bool {
        guard wasAnswered == true else { return false }
        wasAnswered = nil
        keep(.answered, reason: "sent once more: \(reason)")
        return true
    }

    /// An answer that could not be read lies in this file; `isWhole`: another rule may read it.
    package mutating func keepAnswer(in name: String, isWhole: Bool) {
        (unreadAnswer, isUnreadAnswerWhole) = (name, isWhole ? true : nil)
    }

    /// Brings a take to rest that is not sent any more; `reason` says why it has no answer.
    mutating func keep(_ state: State = .kept, reason: String?) {
        self.state = state
        self.reason = reason.map { String($0.prefix(Self.reasonLimit)) }
        holder = nil
    }

    /// The beginning of the reason of a take whose program has died.
    package static let programEnded = "the program ended while it was "

    /// Brings a take to rest whose program has died; one that was answered before is so still, and one
    /// that was cancelled is not wanted.
    package mutating func abandon(reason: String) {
        let isUnwanted = isCancelled.take() == true
        keep(
            wasAnswered == true ? .answered : isUnwanted ? .cancelled : .kept,
            reason: isUnwanted ? nil : reason)
    }

    /// A program that died could not say how far its transfer had come, nor that there was one.
    mutating func doubtLastTransfer() {
        // A transfer that waited for the length of the recording had not begun.
        guard delivery == nil || attempts > 0 else { return }
        attempts = max(1, attempts)
        guard history?.last?.wasWhole == nil else { return }
        // A job that goes on has the recording already, but its step may be done.
        if let unknown = progress.map({ $0.unknown ?? 0 }) {
            progress?.unknown = unknown + 1
        } else {
            taken = (taken ?? 0) + 1
        }
    }

    /// Notes that the text was handed over, and for how many seconds the audio stays; nil is the usual
    /// time.
    package mutating func release(keepingAudioFor seconds: Int?) {
        (isReleased, keepsAudioFor) = (true, seconds)
    }

    /// This process sends the take once more, from a step of its job on.
    package mutating func resend(
        to url: String, by delivery: DeliveryManifest, from progress: ExchangeProgress?
    ) {
        if state == .answered { wasAnswered = true }
        (state, holder, reason) = (.sending, getpid(), nil)
        redirect(to: url, by: delivery)
        self.progress = progress
    }

    /// The take goes elsewhere, as if nothing of it had been sent.
    package mutating func startAnew(at url: String, by delivery: DeliveryManifest) {
        redirect(to: url, by: delivery)
        (progress, taken, failures, isHeld) = (nil, nil, nil, nil)
        keep(reason: nil)
    }

    /// The archive is to get the take, at this place.
    package mutating func promise(toArchiveAt place: String) { archive = ArchiveNote(place: place) }

    /// The archive's queue has the take.
    package mutating func noteQueue() { archive?.isQueued = true }
}
