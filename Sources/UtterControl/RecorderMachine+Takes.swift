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
        if !status.isDaemon {
            exit = conclusion.answer.exit ?? 0
            if conclusion.isFailure { untold.append(conclusion.take) }
        }
        guard let index = entries.firstIndex(where: { $0.id == conclusion.take }) else { return }
        let entry = entries[index]
        switch entry.owner {
        // A text that was promised with the press waits for no other client.
        case .holder(let claim): entries[index].owner = .claimant(claim)
        case .next where isLeaving || hasGivenUp: entries[index].owner = .gone
        case .next, .claimant, .gone: break
        }
        let hasPlaces = hasPlaces || entry.request?.places?.isEmpty == false
        let isDue = entry.claim?.isPlaced != true && !isLeaving && conclusion.answer.text != nil
        entries[index].stage = hasPlaces && isDue ? .placing(conclusion) : .concluded(conclusion)
        give(entries[index])
        tellStarter(of: entry.number)
    }

    /// Tells the client that began a take that something is recorded, or how it ended without that.
    mutating func tellStarter(of number: Int, isHeard: Bool = false) {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
        let entry = entries[index]
        if isHeard || entry.conclusion?.answer.text != nil {
            reply(.answer(.begun(entry.id.text)), to: entry.starter)
            entries[index].opening = .heard
        } else if entry.conclusion != nil, let starter = entry.starter {
            entries[index].opening = .awaited(by: nil)
            let claim = Claim(client: starter, request: ControlRequest(.start))
            entries[index].owner = .claimant(claim)
            give(entries[index])
        }
    }

    /// Gives a text to the client that it is promised to, once it is there.
    mutating func give(_ entry: Entry) {
        guard let claim = entry.claim, case .concluded(var conclusion) = entry.stage else { return }
        untold.removeAll { $0 == entry.id }
        if let first = untold.first {
            let failed =
                untold.count == 1
                ? "take \(first.text), before this one, has no text: utter show \(first.shortName)"
                : "\(untold.count) takes before this one have no text: utter list"
            conclusion.answer.lines =
                [.line("warning: \(failed)")] + (conclusion.answer.lines ?? [])
            untold = []
        }
        let wantsReport = claim.request.report == true
        actions.append(.result(conclusion, claim.client, wantsReport: wantsReport))
    }

    /// Notes that a client waits for no text any more.
    mutating func letGo(of client: ControlClientID, hasPrinted: Bool) {
        held.removeAll { $0.client == client }
        if let index = entries.firstIndex(where: { $0.starter == client }) {
            return entries[index].opening = .awaited(by: nil)
        }
        let isTheirs = { (entry: Entry) in
            if case .printed = entry.stage { false } else { entry.claim?.client == client }
        }
        guard let index = entries.firstIndex(where: isTheirs) else { return }
        let conclusion = entries[index].conclusion
        if hasPrinted, let conclusion {
            notePrinted(index, conclusion)
        } else if entries[index].holder != nil {
            // No program is left that would let the key go.
            pass(ControlRequest(.stop, take: entries[index].id.text), for: nil)
            entries[index].owner = .next
        } else {
            // Another client may have the text, if it asks in time.
            entries[index].owner = .gone
        }
        if status.isDaemon, conclusion != nil { actions.append(.sweep) }
        removeOver()
    }

    private mutating func notePrinted(_ index: Int, _ conclusion: TakeConclusion) {
        entries[index].stage = .printed(conclusion)
        if conclusion.isSettled { actions.append(.release(entries[index].number)) }
    }

    /// The text that is to be given where its press says, and the names of the places if they came with a
    /// request; nil of a take whose text is not.
    package func due(_ take: TakeID) -> (TakeConclusion, places: [ControlRequest.Place]?)? {
        guard let entry = entries.first(where: { $0.id == take }),
            case .placing(let conclusion) = entry.stage
        else { return nil }
        return (conclusion, status.isDaemon ? entry.request?.places : nil)
    }

    /// A text is where its press said, or the places have complained; a stop prints it in any case.
    mutating func settle(_ take: TakeID, _ complaints: [ToldLine]) {
        guard let index = entries.firstIndex(where: { $0.id == take }),
            var conclusion = entries[index].conclusion
        else { return }
        conclusion.answer.lines = complaints + (conclusion.answer.lines ?? [])
        conclusion.answer.placed = complaints.isEmpty
        entries[index].stage = .concluded(conclusion)
        if complaints.isEmpty, entries[index].claim == nil { notePrinted(index, conclusion) }
        give(entries[index])
        removeOver()
    }

    /// Lets go of takes that have ended, and whose text is printed or asked for by no client.
    ///
    /// Not while a request is carried out: it may be for one of them.
    mutating func removeOver() {
        if requests == 0 { remove(\.isOver) }
    }

    /// Stops waiting for a client that asks for the text.
    mutating func expire(_ isMeant: (Entry) -> Bool) {
        remove { $0.isLingering && isMeant($0) }
    }

    mutating func remove(_ isOver: (Entry) -> Bool) {
        for entry in entries where isOver(entry) {
            if case .concluded(let conclusion) = entry.stage { actions.append(.tell(conclusion)) }
            actions.append(.forget(entry.number))
        }
        entries.removeAll(where: isOver)
    }

    // MARK: - What is shown

    mutating func show(_ state: Dictation.State) {
        let take = state.take.flatMap { id(of: $0) }
        if take != status.take { (status.elapsedMs, status.text, status.level) = (0, "", nil) }
        (status.take, status.phase, shown) = (take, state.phase, state)
        status.troubles = state.take.flatMap { entry($0)?.trouble.lines }
        actions.append(.show(status))
        guard let number = state.take, state.phase == .recording else { return }
        tellStarter(of: number, isHeard: true)
    }

    mutating func tell(_ news: Dictation.News) {
        let entry = entries.last { $0.id.text == status.take }
        actions.append(.news(news, key: shown.isLatched ? nil : entry?.claim?.key, entry?.holder))
    }

    mutating func note(_ event: TakeEvent, of take: TakeID) {
        guard let index = entries.firstIndex(where: { $0.id == take }) else { return }
        entries[index].trouble.note(event)
        if case (.captured, .recorded) = (event, entries[index].stage) {
            entries[index].stage = .captured
        }
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
