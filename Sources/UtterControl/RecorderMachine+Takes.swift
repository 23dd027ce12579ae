// SPDX-License-Identifier: Apache-2.0

package import Utter

// The fate of takes, and what is shown of them.
extension RecorderMachine {
    func entry(_ number: Int) -> Entry? { entries.first { $0.number == number } }

    func id(of number: Int) -> String? { entry(number)?.id.text }

    mutating func change(_ number: Int, _ body: (inout Entry) -> Void) {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
        body(&entries[index])
    }

    /// The number of a take whose text waits for a client; nil of any other.
    package func lingering(_ take: TakeID) -> Int? {
        entries.first { $0.id == take && $0.isLingering }?.number
    }

    mutating func conclude(_ conclusion: TakeConclusion) {
        if !status.isDaemon { exit = conclusion.answer.exit ?? 0 }
        guard let index = entries.firstIndex(where: { $0.id == conclusion.take }) else { return }
        let claim = entries[index].claim
        (entries[index].conclusion, entries[index].isCaptured) = (conclusion, true)
        // A text that was promised with the press waits for no other client.
        if isLeaving || hasGivenUp || claim?.key != nil { entries[index].wasStopped = true }
        let hasPlaces = hasPlaces || entries[index].request?.places?.isEmpty == false
        entries[index].isBeingGiven =
            hasPlaces && claim?.isPlaced != true && !isLeaving && conclusion.answer.text != nil
        give(entries[index])
        tellStarter(of: entries[index].number)
    }

    /// Tells the client that began a take that something is recorded, or how it ended without that.
    mutating func tellStarter(of number: Int) {
        guard let index = entries.firstIndex(where: { $0.number == number }),
            let starter = entries[index].starter
        else { return }
        let entry = entries[index]
        if entry.isHeard || entry.conclusion?.answer.text != nil {
            reply(.answer(.begun(entry.id.text)), to: starter)
        } else if entry.conclusion != nil {
            entries[index].claim = Claim(client: starter, request: ControlRequest(.start))
            give(entries[index])
        } else {
            return
        }
        entries[index].starter = nil
    }

    /// Gives a text to the client that it is promised to, once it is there.
    mutating func give(_ entry: Entry) {
        guard let claim = entry.claim, let conclusion = entry.conclusion, !entry.isBeingGiven
        else { return }
        let wantsReport = claim.request.report == true
        actions.append(.result(conclusion, claim.client, wantsReport: wantsReport))
    }

    /// Notes that a client waits for no text any more.
    mutating func letGo(of client: ControlClientID, hasPrinted: Bool) {
        held.removeAll { $0.client == client }
        if let index = entries.firstIndex(where: { $0.starter == client }) {
            return entries[index].starter = nil
        }
        let isTheirs = { (entry: Entry) in entry.claim?.client == client && !entry.isPrinted }
        guard let index = entries.firstIndex(where: isTheirs) else { return }
        let conclusion = entries[index].conclusion
        if hasPrinted, let conclusion {
            notePrinted(index, conclusion)
        } else {
            // No program is left that would let the key go.
            if entries[index].holder != nil {
                pass(ControlRequest(.stop, take: entries[index].id.text), for: nil)
            }
            // Another client may have the text, if it asks in time.
            entries[index].claim = nil
        }
        if status.isDaemon, conclusion != nil { actions.append(.sweep) }
        removeOver()
    }

    private mutating func notePrinted(_ index: Int, _ conclusion: TakeConclusion) {
        entries[index].isPrinted = true
        if conclusion.isSettled { actions.append(.release(entries[index].number)) }
    }

    /// The text that is to be given where its press says, and the names of the places if they came with a
    /// request; nil of a take whose text is not.
    package func due(_ take: TakeID) -> (TakeConclusion, places: [ControlRequest.Place]?)? {
        entries.first { $0.id == take && $0.isBeingGiven }.flatMap { entry in
            entry.conclusion.map { ($0, status.isDaemon ? entry.request?.places : nil) }
        }
    }

    /// A text is where its press said, or the places have complained; a stop prints it in any case.
    mutating func settle(_ take: TakeID, _ complaints: [ToldLine]) {
        guard let index = entries.firstIndex(where: { $0.id == take }),
            var conclusion = entries[index].conclusion
        else { return }
        conclusion.answer.lines = complaints + (conclusion.answer.lines ?? [])
        conclusion.answer.placed = complaints.isEmpty
        (entries[index].conclusion, entries[index].isBeingGiven) = (conclusion, false)
        if complaints.isEmpty, entries[index].claim == nil { notePrinted(index, conclusion) }
        give(entries[index])
        removeOver()
    }

    /// Lets go of takes that have ended, and whose text is printed or asked for by no client.
    ///
    /// Not while a request is carried out: it may be for one of them.
    mutating func removeOver() {
        guard requests == 0 else { return }
        remove {
            $0.conclusion != nil && !$0.isBeingGiven
                && ($0.isPrinted || $0.claim == nil && !$0.isLingering)
        }
    }

    /// Stops waiting for a client that asks for the text.
    mutating func expire(_ isMeant: (Entry) -> Bool) {
        remove { $0.isLingering && isMeant($0) }
    }

    mutating func remove(_ isOver: (Entry) -> Bool) {
        for entry in entries where isOver(entry) {
            if let conclusion = entry.conclusion, !entry.isPrinted {
                actions.append(.tell(conclusion))
            }
            actions.append(.forget(entry.number))
        }
        entries.removeAll(where: isOver)
    }

    // MARK: - What is shown

    mutating func show(_ state: Dictation.State) {
        let take = state.take.flatMap { id(of: $0) }
        if take != status.take { (status.elapsedMs, status.text, status.level) = (0, "", nil) }
        (status.take, status.phase, isLatched) = (take, state.phase, state.isLatched)
        status.troubles = state.take.flatMap { entry($0)?.trouble.lines }
        actions.append(.show(status))
        guard let number = state.take, state.phase == .recording else { return }
        change(number) { $0.isHeard = true }
        tellStarter(of: number)
    }

    mutating func tell(_ news: Dictation.News) {
        let entry = entries.last { $0.id.text == status.take }
        actions.append(.news(news, key: isLatched ? nil : entry?.claim?.key, entry?.holder))
    }

    mutating func note(_ event: TakeEvent, of take: TakeID) {
        guard let index = entries.firstIndex(where: { $0.id == take }) else { return }
        entries[index].trouble.note(event)
        if case .captured = event { entries[index].isCaptured = true }
        guard status.take == take.text else { return }
        let troubles = entries[index].trouble.lines
        switch event {
        case .progress(let progress):
            status.elapsedMs = Int(progress.elapsed / .milliseconds(1))
            // Without a zero that is negative.
            let level = (Double(progress.level.peakDecibels) * 10).rounded() / 10 + 0
            status.level = progress.isComplete ? nil : level
        case .heard(let transcript): status.hear(transcript.displayText)
        case .captured: status.level = nil
        default: if status.troubles == troubles { return }
        }
        status.troubles = troubles
        actions.append(.show(status))
    }
}
