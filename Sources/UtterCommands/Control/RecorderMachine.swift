// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// Decides for a recorder which client gets which text, what each is answered, and when all is done.
///
/// Pure. The dictation decides which takes begin and end; here each take has an entry from its
/// beginning until its text is where it belongs:
///
/// ```
///              stopped                       concluded
/// recorded ───────────▶ claimed by a client ───────────▶ given to it ──printed──▶ gone
///    │                        │                               │
///    │                        └──────────client gone──────────┴──▶ for the next one that asks,
///    └──concluded without a stop──▶ lingering: for the next        otherwise told and kept
/// ```
struct RecorderMachine: Sendable {
    private(set) var entries: [Entry] = []
    private(set) var status = ControlStatus()
    private(set) var exit = ExitStatus.textPrinted
    /// Requests that the dictation has not carried out yet, the one included that it was begun for.
    private(set) var requests = 0
    /// Whether the request is awaited that it was begun for.
    private(set) var isExpecting = false
    private(set) var isLeaving = false
    /// Whether it ends: nothing begins any more.
    private(set) var isClosing = false
    /// Why the take that was to begin last did not.
    private var failure: CommandFailure?
    /// The stop or cancel that was begun last.
    private var lastEnd: ProcessBeginning?
    private var actions: [Action] = []

    init(_ purpose: Purpose, process: Int32) {
        status.process = process
        switch purpose {
        case .daemon: status.isDaemon = true
        case .request(let lastEnd): (requests, isExpecting, self.lastEnd) = (1, true, lastEnd)
        }
    }

    /// Takes note of what has happened.
    ///
    /// - Returns: what to do, in this order.
    mutating func handle(_ event: Event) -> [Action] {
        actions = []
        switch event {
        case .asked(let request, let client): receive(request, from: client)
        case .carriedOut(let request, let reply, let client):
            carriedOut(request, reply, for: client)
        case .began(let number, let id):
            failure = nil
            entries.append(Entry(number: number, id: id))
        case .failed(let failure): self.failure = failure
        case .shown(let state): show(state)
        case .told(let event, let id): note(event, of: id)
        case .concluded(let conclusion): conclude(conclusion)
        case .placed: removeOver()
        case .outwaited(let number): expire { $0.number == number }
        case .unasked: expectNoMore()
        case .left(let client, let hasPrinted): letGo(of: client, hasPrinted: hasPrinted)
        case .leave:
            isLeaving = true
            expectNoMore()
            expire { _ in true }
        }
        closeIfDone()
        return actions
    }

    private mutating func closeIfDone() {
        guard !isClosing, isLeaving || !status.isDaemon, entries.isEmpty, requests == 0
        else { return }
        isClosing = true
        actions.append(.finish)
    }

    // MARK: - Requests

    private mutating func expectNoMore() {
        if isExpecting { (isExpecting, requests) = (false, requests - 1) }
    }

    private mutating func receive(_ request: ControlRequest, from client: ControlClientID?) {
        if request.command.hasEffect { expectNoMore() }
        switch request.command {
        case .status: reply(.answer(.status(status)), to: client)
        case .follow: reply(.follow(status), to: client)
        // Only a client that was given a text may confirm it.
        case .taken, .confirmed: reply(.answer(.done()), to: client)
        case .start where hasEnded(request):
            refuseStart(ControlReading.stoppedBefore, to: client)
        case .start, .stop, .toggle, .cancel: pass(request, for: client)
        }
    }

    private mutating func reply(_ reply: ControlReply, to client: ControlClientID?) {
        if let client { actions.append(.reply(reply, client)) }
    }

    /// Says why nothing is recorded: here, if no client hears it.
    private mutating func refuseStart(_ failure: CommandFailure, to client: ControlClientID?) {
        guard client == nil else { return reply(.answer(.refused(failure)), to: client) }
        if !status.isDaemon { exit = failure.status }
        actions.append(.report(failure))
    }

    /// Whether a start was stopped before it came.
    private func hasEnded(_ request: ControlRequest) -> Bool {
        guard let begun = request.begun, let lastEnd else { return false }
        return begun < lastEnd
    }

    /// Has a request carried out.
    private mutating func pass(_ request: ControlRequest, for client: ControlClientID?) {
        guard !isClosing else { return reply(.leave, to: client) }
        requests += 1
        note(request)
        // A number that no take has, when it has another one in mind.
        let take = request.take.map { take in entries.first { $0.id.text == take }?.number ?? 0 }
        actions.append(.obey(request, onlyFor: take, client))
    }

    /// Remembers a request that ends whatever was begun before it.
    private mutating func note(_ request: ControlRequest) {
        guard [.stop, .cancel].contains(request.command), request.take == nil,
            let begun = request.begun, begun.isPast
        else { return }
        lastEnd = max(lastEnd ?? begun, begun)
    }

    private mutating func carriedOut(
        _ request: ControlRequest, _ outcome: Dictation.Reply?, for client: ControlClientID?
    ) {
        requests -= 1
        if let outcome {
            answer(request, outcome, for: client)
        } else {
            reply(.leave, to: client)
        }
        removeOver()
    }

    private mutating func answer(
        _ request: ControlRequest, _ outcome: Dictation.Reply, for client: ControlClientID?
    ) {
        switch outcome {
        case .started(let number):
            guard let id = id(of: number) else {
                return refuseStart(failure ?? ControlReading.nothingRecorded, to: client)
            }
            guard request.wait == true else {
                return reply(.answer(.begun(id)), to: client)
            }
            reply(.wait(ControlAnswer(.waiting, take: id)), to: client)
            change(number) { $0.starter = client }
            tellStarter(of: number)
        case .resumed(let number):
            let id = id(of: number)
            let place = id.map { " in take \($0)" } ?? ""
            reply(.answer(.done("recording goes on\(place)", take: id)), to: client)
        case .cancelled(let number):
            let id = id(of: number)
            // The take may be over by now.
            let subject = id.map { "take \($0)" } ?? "the recording"
            reply(.answer(.done("\(subject) is cancelled", take: id)), to: client)
        case .stopped(let number): claim(number, request, for: client)
        case .nothing:
            switch request.command {
            case .start:
                let object = status.take.map { " take \($0)" } ?? ""
                reply(.answer(.done("already recording\(object)", take: status.take)), to: client)
            case .stop, .toggle: claim(candidate(for: request), request, for: client)
            default: reply(refusal(of: request), to: client)
            }
        }
    }

    /// The take whose text a stop gets that has nothing to stop: it was stopped already, or has
    /// ended by itself.
    private func candidate(for request: ControlRequest) -> Int? {
        guard let take = request.take else {
            return (entries.last { $0.claimant == nil } ?? entries.last)?.number
        }
        return entries.first { $0.id.text == take }?.number
    }

    /// Promises the text of a take to a client, if it is not promised yet.
    private mutating func claim(
        _ number: Int?, _ request: ControlRequest, for client: ControlClientID?
    ) {
        guard let index = entries.firstIndex(where: { $0.number == number }) else {
            return reply(refusal(of: request), to: client)
        }
        let id = entries[index].id.text
        guard entries[index].claimant == nil else {
            let message = "take \(id) was stopped already; its text goes to the one who stopped it"
            return reply(.answer(.done(message, take: id)), to: client)
        }
        entries[index].isHeard = true
        tellStarter(of: entries[index].number)
        entries[index].wasStopped = true
        entries[index].claimant = client
        entries[index].wantsReport = request.report == true
        reply(.wait(ControlAnswer(.waiting, take: id)), to: client)
        give(entries[index])
    }

    private func refusal(of request: ControlRequest) -> ControlReply {
        guard let take = request.take else {
            return .answer(.refused(ControlReading.nothingRecorded))
        }
        let other = status.take.map { ": the take that is recorded is \($0)" } ?? ""
        return .answer(
            .refused(
                CommandFailure(
                    "take \(take) is not being recorded\(other)",
                    hint:
                        "its text, if there is one, is printed by: utter show \(Hints.name(take))",
                    status: .nothingRecorded), take: status.take))
    }

    // MARK: - Takes

    private func id(of number: Int) -> String? {
        entries.first { $0.number == number }?.id.text
    }

    private mutating func change(_ number: Int, _ body: (inout Entry) -> Void) {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
        body(&entries[index])
    }

    /// The number of a take whose text waits for one who asks for it; nil of any other.
    func lingering(_ take: TakeID) -> Int? {
        entries.first { $0.id == take && $0.isLingering }?.number
    }

    private mutating func conclude(_ conclusion: TakeConclusion) {
        if !status.isDaemon { exit = conclusion.status }
        guard let index = entries.firstIndex(where: { $0.id == conclusion.take }) else { return }
        entries[index].conclusion = conclusion
        if isLeaving { entries[index].wasStopped = true }
        give(entries[index])
        tellStarter(of: entries[index].number)
    }

    /// Tells the client that began a take that something is recorded, or how it ended without that.
    private mutating func tellStarter(of number: Int) {
        guard let index = entries.firstIndex(where: { $0.number == number }),
            let starter = entries[index].starter
        else { return }
        let entry = entries[index]
        if entry.isHeard || entry.conclusion?.text != nil {
            reply(.answer(.begun(entry.id.text)), to: starter)
        } else if entry.conclusion != nil {
            entries[index].claimant = starter
            give(entries[index])
        } else {
            return
        }
        entries[index].starter = nil
    }

    /// Gives a text to the client that it is promised to, once it is there.
    private mutating func give(_ entry: Entry) {
        guard let client = entry.claimant, let conclusion = entry.conclusion else { return }
        actions.append(.result(conclusion, client, wantsReport: entry.wantsReport))
    }

    /// Notes that a client waits for no text any more.
    private mutating func letGo(of client: ControlClientID, hasPrinted: Bool) {
        if let index = entries.firstIndex(where: { $0.starter == client }) {
            return entries[index].starter = nil
        }
        let isTheirs = { (entry: Entry) in entry.claimant == client && !entry.isPrinted }
        guard let index = entries.firstIndex(where: isTheirs) else { return }
        guard let conclusion = entries[index].conclusion else {
            // Another client may have the text, if it asks in time.
            return entries[index].claimant = nil
        }
        if hasPrinted {
            entries[index].isPrinted = true
            if conclusion.isSettled { actions.append(.release(entries[index].number)) }
        } else {
            // As above.
            entries[index].claimant = nil
        }
        if status.isDaemon { actions.append(.sweep) }
        removeOver()
    }

    /// Lets go of takes that have ended, and whose text is printed or asked for by no client.
    ///
    /// Not while a request is carried out: it may be for one of them.
    private mutating func removeOver() {
        guard requests == 0 else { return }
        remove {
            $0.conclusion != nil && ($0.isPrinted || $0.claimant == nil && !$0.isLingering)
        }
    }

    /// Stops to wait for one who asks for a text.
    private mutating func expire(_ isMeant: (Entry) -> Bool) {
        remove { $0.isLingering && isMeant($0) }
    }

    private mutating func remove(_ isOver: (Entry) -> Bool) {
        for entry in entries where isOver(entry) {
            if let conclusion = entry.conclusion, !entry.isPrinted {
                actions.append(.tell(conclusion))
            }
            actions.append(.forget(entry.number))
        }
        entries.removeAll(where: isOver)
    }

    // MARK: - What is shown

    private mutating func show(_ state: Dictation.State) {
        let take = state.take.flatMap { id(of: $0) }
        if take != status.take { (status.elapsedMs, status.text, status.level) = (0, "", nil) }
        (status.take, status.phase) = (take, state.phase)
        actions.append(.show(status))
        guard let number = state.take, state.phase == .recording else { return }
        change(number) { $0.isHeard = true }
        tellStarter(of: number)
    }

    private mutating func note(_ event: TakeEvent, of take: TakeID) {
        guard status.take == take.text else { return }
        switch event {
        case .progress(let progress):
            status.elapsedMs = Int(progress.elapsed / .milliseconds(1))
            // Without a zero that is negative.
            let level = (Double(progress.level.peakDecibels) * 10).rounded() / 10 + 0
            status.level = progress.isComplete ? nil : level
        case .heard(let transcript): status.hear(transcript.displayText)
        case .captured: status.level = nil
        default: return
        }
        actions.append(.show(status))
    }
}
