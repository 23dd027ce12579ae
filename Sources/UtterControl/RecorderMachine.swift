// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// Decides for a recorder which client gets which text, what each is answered, and when all is done.
///
/// Pure. The dictation decides which takes begin and end; here each take has an entry from its
/// beginning until its text is where it belongs. Two states say how far the take has come (`Stage`),
/// and which client gets its text (`Owner`):
///
/// ```
/// recorded ──▶ captured ──▶ concluded ──▶ printed ──▶ forgotten
///                 └──▶ placing ──┴───────────┘
///
/// next ───────────stopped───────────▶ claimant ──client gone──▶ gone
///   └──key──▶ holder ──stopped, or over──┘
/// ```
///
/// The text of a concluded take goes to its claimant. Without one it lingers for the next client that
/// asks, or, once the take was stopped, is told and kept.
///
/// A take that a key begins is claimed by the client of that press, until another program stops it.
///
/// A recorder other than a daemon belongs to one press. A request that may begin another take is held
/// until it is known what becomes of the one before: in its tail the same press goes on with it, and
/// another one ends it. Once nothing is recorded any more, the socket is given up for the recorder of
/// the next press, and this one ends when its texts are where they belong.
package struct RecorderMachine: Sendable {
    var entries: [Entry] = []
    var status = ControlStatus()
    package internal(set) var exit: Int32 = 0
    /// Requests that the dictation has not carried out yet.
    private(set) var requests = 0
    /// Whether the request is awaited that it was begun for.
    private(set) var isExpecting = false
    package private(set) var isLeaving = false
    /// Whether it ends: nothing begins any more.
    private(set) var isClosing = false
    /// The state of the dictation.
    var shown = Dictation.State()
    /// Why the take that was to begin last did not.
    private var failure: ControlFailure?
    /// The stop or cancel that was begun last.
    private var lastEnd: ProcessBeginning?
    /// Requests that may begin a take, in the order in which they came.
    var held: [Held] = []
    /// The request that the dictation begins a take for, or did last.
    private(set) var beginning: ControlRequest?
    /// The digest of its press; nil of a daemon.
    private let press: String?
    /// Whether texts go where the press says, other than to standard output.
    let hasPlaces: Bool
    /// The takes of a recorder in the background that have failed, of which no client has heard.
    var untold: [TakeID] = []
    /// Whether the next recorder may have the socket.
    private(set) var hasGivenUp = false
    var actions: [Action] = []

    package init(_ purpose: Purpose, process: Int32) {
        status.process = process
        switch purpose {
        case .daemon: (status.isDaemon, press, hasPlaces) = (true, nil, false)
        case .request(let lastEnd, let press, let hasPlaces):
            (isExpecting, self.lastEnd) = (true, lastEnd)
            (self.press, self.hasPlaces) = (press, hasPlaces)
        }
    }

    /// Takes note of what has happened, and says what to do, in this order.
    package mutating func handle(_ event: Event) -> [Action] {
        actions = []
        switch event {
        case .asked(let request, let client): receive(request, from: client)
        case .carriedOut(let request, let reply, let client):
            carriedOut(request, reply, for: client)
        case .began(let number, let id):
            failure = nil
            entries.append(Entry(number: number, id: id, request: beginning))
        case .failed(let failure): self.failure = failure
        case .shown(let state): show(state)
        case .news(let news): tell(news)
        case .told(let event, let id): note(event, of: id)
        case .concluded(let conclusion): conclude(conclusion)
        case .given(let take, let complaints): settle(take, complaints)
        case .placed: removeOver()
        case .outwaited(let number): expire { $0.number == number }
        case .overdue(let client):
            for index in held.indices where held[index].client == client {
                held[index].isOverdue = true
            }
        case .unasked: isExpecting = false
        case .left(let client, let hasPrinted): letGo(of: client, hasPrinted: hasPrinted)
        case .leave:
            isLeaving = true
            isExpecting = false
            expire { _ in true }
        }
        admitHeld()
        if !isClosing, isLeaving || !status.isDaemon, entries.isEmpty, requests == 0, !isExpecting,
            !shown.isListening
        {
            isClosing = true
            actions.append(.finish)
        }
        return actions
    }

    // MARK: - Requests

    private mutating func receive(_ request: ControlRequest, from client: ControlClientID?) {
        if hasGivenUp { return reply(.leave, to: client) }
        if request.command.hasEffect, !isOther(request) { isExpecting = false }
        note(request)
        switch request.command {
        case .status: reply(.answer(.status(status)), to: client)
        case .follow: reply(.follow(status), to: client)
        // Only a client that was given a text may confirm it.
        case .taken, .confirmed: reply(.answer(.done()), to: client)
        case .start, .toggle, .keyDown: held.append(Held(request: request, client: client))
        case .stop where isLate(request):
            let ended = entries.last { $0.conclusion != nil && $0.claim == nil }
            claim(ended?.number, request, for: client)
        case .cancel where isLate(request): reply(refusal(of: request), to: client)
        case .stop, .cancel, .keyUp, .pause, .resume, .pauseOrResume: pass(request, for: client)
        }
    }

    /// Whether a request to end something was begun before the take that runs now, or is about to.
    private func isLate(_ request: ControlRequest) -> Bool {
        let running = entries.last { !$0.isCaptured }?.request
        guard request.take == nil, request.key == nil, let begun = request.begun,
            let start = (requests > 0 ? beginning : running)?.begun
        else { return false }
        return begun < start
    }

    /// Whether a request is not one of the press that this recorder is for, or a daemon of the take.
    private func isOther(_ request: ControlRequest, than entry: Entry? = nil) -> Bool {
        if status.isDaemon {
            return entry.map {
                request.service != $0.request?.service || request.preset != $0.request?.preset
            } ?? false
        }
        return request.press != nil && press != nil && request.press != press
    }

    private mutating func admitHeld() {
        let all = held
        held = []
        for request in all { admit(request) }
    }

    /// Decides about a request, or holds it while that depends on what goes on.
    private mutating func admit(_ next: Held) {
        let (request, client) = (next.request, next.client)
        if request.command == .start, hasEnded(request) {
            return refuseStart(.stoppedBefore, to: client)
        }
        guard requests == 0, !isExpecting || !isOther(request) else {
            return held.append(next)
        }
        guard let entry = entries.last(where: { !$0.isCaptured }) else {
            // The next take is about to begin.
            if shown.isListening { return held.append(next) }
            let isItsOwn = entries.isEmpty && !isOther(request)
            return status.isDaemon || isItsOwn || client == nil
                ? pass(request, for: client) : giveUp(for: client)
        }
        // The microphone is still open for a take that was cancelled or has ended.
        guard status.take == entry.id.text, status.isRecording || status.phase == .tail else {
            return held.append(next)
        }
        guard shown.isListening else {
            guard isOther(request, than: entry) else { return pass(request, for: client) }
            actions.append(.endTail(entry.number))
            return held.append(next)
        }
        switch request.command {
        // The stop of that recording may have been begun first, and come last.
        case .start where request.begun != nil && client != nil && next.isOverdue != true:
            if next.isOverdue == nil, let client { actions.append(.hold(client)) }
            held.append(Held(request: request, client: client, isOverdue: false))
        // The take may be over by the time that this is carried out.
        case .toggle where client != nil:
            var end = request
            end.command = .stop
            pass(end, for: client)
        default: pass(request, for: client)
        }
    }

    mutating func reply(_ reply: ControlReply, to client: ControlClientID?) {
        if let client { actions.append(.reply(reply, client)) }
    }

    /// Says why nothing is recorded: here, if no client hears it.
    private mutating func refuseStart(_ failure: ControlFailure, to client: ControlClientID?) {
        guard client == nil else { return reply(.answer(.refused(failure)), to: client) }
        if !status.isDaemon { exit = failure.exit }
        actions.append(.report(failure))
    }

    /// Whether a start was stopped before it came.
    private func hasEnded(_ request: ControlRequest) -> Bool {
        guard let begun = request.begun, let lastEnd else { return false }
        return begun < lastEnd
    }

    mutating func pass(_ request: ControlRequest, for client: ControlClientID?) {
        guard !isClosing, !hasGivenUp else { return reply(.leave, to: client) }
        requests += 1
        if [.start, .toggle, .keyDown].contains(request.command) { beginning = request }
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

    /// Lets the recorder of the next press have the socket, and has a client ask there.
    private mutating func giveUp(for client: ControlClientID?) {
        if !hasGivenUp { actions.append(.giveUp) }
        hasGivenUp = true
        // No stop reaches what lingers any more.
        expire { _ in true }
        reply(.leave, to: client)
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
                return refuseStart(failure ?? .nothingRecorded, to: client)
            }
            if request.command == .keyDown {
                return hold(number, request, for: client, "recording take \(id)")
            }
            guard request.wait == true else {
                return reply(.answer(.begun(id)), to: client)
            }
            reply(.wait(ControlAnswer(.waiting, take: id)), to: client)
            let isHeard = entry(number)?.opening == .heard
            change(number) { $0.opening = .awaited(by: client) }
            tellStarter(of: number, isHeard: isHeard)
        case .resumed(let number):
            let id = id(of: number)
            let message = "recording goes on" + (id.map { " in take \($0)" } ?? "")
            if request.command == .keyDown, id != nil, entry(number)?.claim == nil {
                return hold(number, request, for: client, message)
            }
            if request.key != nil, let claim = entry(number)?.claim, claim.key != nil {
                change(number) { $0.hold(claim) }
            }
            reply(.answer(.done(message, take: id)), to: client)
        case .paused(let number):
            let id = id(of: number)
            let name = id.map { " of take \($0)" } ?? ""
            reply(.answer(.done("the recording\(name) pauses", take: id)), to: client)
        case .cancelled(let number):
            let id = id(of: number)
            // The take may be over by now.
            let subject = id.map { "take \($0)" } ?? "the recording"
            let answer = ControlAnswer.done("\(subject) is cancelled", take: id)
            let isTold = letHolderGo(number, answer) && request.key != nil
            reply(.answer(isTold ? .done(take: id) : answer), to: client)
        case .stopped(let number):
            guard request.key != nil, case .holder(let held)? = entry(number)?.owner else {
                return claim(number, request, for: client, isStopped: true)
            }
            change(number) { $0.owner = .claimant(held) }
            reply(.answer(.done()), to: client)
        case .nothing: answerNothing(request, for: client)
        }
    }

    private mutating func answerNothing(_ request: ControlRequest, for client: ControlClientID?) {
        switch request.command {
        // It went on for a moment, and was stopped again.
        case .start where !status.isRecording, .keyDown where !status.isRecording:
            refuseStart(.stoppedBefore, to: client)
        case .pause where status.phase == .paused && isMeant(request):
            reply(.answer(.done("the recording pauses already", take: status.take)), to: client)
        case .resume where !status.isRecording || !isMeant(request):
            reply(refusal(of: request), to: client)
        case .start, .keyDown, .resume:
            let entry = entries.last { $0.id.text == status.take }
            let object = entry.map { " take \($0.id.text)" } ?? ""
            let isStart = request.command != .resume
            let others =
                isStart && isOther(request, than: entry)
                ? "; the options of its own start count" : ""
            // A press has no part in the take.
            let take = request.key == nil ? status.take : nil
            reply(.answer(.done("already recording\(object)\(others)", take: take)), to: client)
        // A key that goes up again need not have begun anything.
        case _ where request.key != nil, .keyUp: reply(.answer(.done()), to: client)
        case .stop, .toggle: claim(candidate(for: request), request, for: client)
        default: reply(refusal(of: request), to: client)
        }
    }

    /// Whether a request is for the take that is recorded.
    private func isMeant(_ request: ControlRequest) -> Bool {
        request.take == nil || request.take == status.take
    }

    /// The take whose text a stop gets that has nothing to stop: it was stopped already, or has
    /// ended by itself.
    private func candidate(for request: ControlRequest) -> Int? {
        guard let take = request.take else {
            return (entries.last { $0.claim == nil } ?? entries.last)?.number
        }
        return entries.first { $0.id.text == take }?.number
    }

    /// Promises the text of a take to a client, if it is not promised yet.
    private mutating func claim(
        _ number: Int?, _ request: ControlRequest, for client: ControlClientID?,
        isStopped: Bool = false
    ) {
        if isStopped, let number, let id = id(of: number) {
            let message = "take \(id) was stopped elsewhere; its text goes there"
            letHolderGo(number, .done(message, take: id))
        }
        guard let index = entries.firstIndex(where: { $0.number == number }) else {
            return reply(refusal(of: request), to: client)
        }
        let id = entries[index].id.text
        guard entries[index].claim == nil else {
            let message = "take \(id) was stopped already; its text goes to the one who stopped it"
            return reply(.answer(.done(message, take: id)), to: client)
        }
        tellStarter(of: entries[index].number, isHeard: true)
        // It is printed once more, when the places of its press have it already.
        if case .printed(let conclusion) = entries[index].stage {
            entries[index].stage = .concluded(conclusion)
        }
        let claim = client.map { Claim(client: $0, request: request) }
        entries[index].owner = claim.map { .claimant($0) } ?? .gone
        reply(.wait(ControlAnswer(.waiting, take: id)), to: client)
        give(entries[index])
    }

    /// Has a key's client wait for the text of the take that its key begins, or goes on with.
    private mutating func hold(
        _ number: Int, _ request: ControlRequest, for client: ControlClientID?, _ message: String
    ) {
        guard let client, let index = entries.firstIndex(where: { $0.number == number })
        else { return }
        entries[index].hold(Claim(client: client, request: request, key: request.key ?? ""))
        var answer = ControlAnswer(.waiting, take: entries[index].id.text)
        answer.message = message
        reply(.wait(answer), to: client)
        give(entries[index])
    }

    /// Tells the client whose key has begun a take that it gets no text of it; false without one.
    @discardableResult
    private mutating func letHolderGo(_ number: Int, _ answer: ControlAnswer) -> Bool {
        guard let holder = entry(number)?.holder else { return false }
        reply(.answer(answer), to: holder)
        change(number) { $0.owner = .next }
        return true
    }

    private func refusal(of request: ControlRequest) -> ControlReply {
        guard let take = request.take else {
            return .answer(.refused(.nothingRecorded))
        }
        let other = status.take.map { ": the take that is recorded is \($0)" } ?? ""
        return .answer(
            .refused(
                ControlFailure(
                    "take \(take) is not being recorded\(other)",
                    hint:
                        "its text, if there is one, is printed by: utter show \(TakeID(take)?.shortName ?? take)",
                    status: .nothingRecorded), take: status.take))
    }
}
