// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Utter

// What clients ask for, and what they are answered.
extension Recorder: ControlHandler {
    func receive(_ request: ControlRequest, from client: ControlClientID) {
        let input: Dictation.Input
        switch request.command {
        case .status: return answer(.status(state.withLock { $0.status }), to: client)
        case .follow:
            server?.send(.reply(.follow(state.withLock { $0.status }), client))
            return
        // Only a client that was given a text may confirm it.
        case .taken, .confirmed: return answer(.done(), to: client)
        case .start:
            guard !state.withLock({ $0.hasEnded(request) }) else {
                return answer(.refused(ControlReading.stoppedBefore), to: client)
            }
            input = .start
        case .stop: input = .stop
        case .toggle: input = .toggle
        case .cancel: input = .cancel
        }
        let (isClosing, number) = state.withLock { state in
            if !state.isClosing { state.requests += 1 }
            state.note(request)
            let entry = state.entries.first { $0.take.id.text == request.take }
            return (state.isClosing, entry?.number)
        }
        guard !isClosing else {
            server?.send(.reply(.leave, client))
            return
        }
        // A number that no take has.
        let onlyTake = request.take == nil ? nil : number ?? 0
        dictation?.handle(input, onlyFor: onlyTake) { [self] reply in
            carriedOut(request, reply, for: client)
        }
    }

    func didEnd(_ client: ControlClientID, hasPrinted: Bool) {
        let entry = state.withLock { $0.letGo(of: client, hasPrinted: hasPrinted) }
        guard let entry, let conclusion = entry.conclusion else { return }
        if entry.isPrinted, conclusion.isSettled {
            entry.take.release(keepingAudioFor: session.audioTime)
        }
        if state.withLock({ $0.status.isDaemon }) { session.pipeline.sweep() }
        forgetOver()
    }

    private func answer(_ answer: ControlAnswer, to client: ControlClientID) {
        server?.send(.reply(.answer(answer), client))
    }

    /// A request was carried out, on the thread of the dictation.
    private func carriedOut(
        _ request: ControlRequest, _ reply: Dictation.Reply?, for client: ControlClientID
    ) {
        let (answer, late) = state.withLock { state -> (ControlReply, Entry?) in
            state.requests -= 1
            guard let reply else { return (.leave, nil) }
            return state.answer(request, reply, for: client)
        }
        server?.send(.reply(answer, client))
        if let late, let conclusion = late.conclusion {
            server?.send(conclusion.message(for: client, wantsReport: late.wantsReport))
        }
        forgetOver()
    }
}

extension Recorder.State {
    /// Whether a start was stopped before it came.
    fileprivate func hasEnded(_ request: ControlRequest) -> Bool {
        guard let begun = request.begun, let lastEnd else { return false }
        return begun < lastEnd
    }

    /// Remembers a request that ends whatever was begun before it.
    fileprivate mutating func note(_ request: ControlRequest) {
        guard [.stop, .cancel].contains(request.command), request.take == nil,
            let begun = request.begun, begun.isPast
        else { return }
        lastEnd = max(lastEnd ?? begun, begun)
    }

    /// Notes that a client waits for no text any more.
    mutating func letGo(of client: ControlClientID, hasPrinted: Bool) -> Recorder.Entry? {
        let isTheirs = { (entry: Recorder.Entry) in entry.claimant == client && !entry.isPrinted }
        guard let index = entries.firstIndex(where: isTheirs) else { return nil }
        if hasPrinted, entries[index].conclusion != nil {
            entries[index].isPrinted = true
        } else {
            // Another client may have the text, if it asks in time.
            entries[index].claimant = nil
        }
        return entries[index]
    }

    /// Takes those out that have ended, and whose text is printed or asked for by no client, unless
    /// a request is carried out.
    mutating func removeOver() -> [Recorder.Entry] {
        guard requests == 0 else { return [] }
        let isOver = { (entry: Recorder.Entry) in
            entry.conclusion != nil
                && (entry.isPrinted || entry.claimant == nil && !entry.isLingering)
        }
        defer { entries.removeAll(where: isOver) }
        return entries.filter(isOver)
    }

    /// What a client is answered, and the take that has ended already whose text it gets.
    mutating func answer(
        _ request: ControlRequest, _ reply: Dictation.Reply, for client: ControlClientID
    ) -> (ControlReply, Recorder.Entry?) {
        switch reply {
        case .started(let number):
            guard let id = id(of: number) else {
                return (.answer(.refused(failure ?? ControlReading.nothingRecorded)), nil)
            }
            return (.answer(.done("recording take \(id)", take: id)), nil)
        case .resumed(let number):
            let id = id(of: number)
            let place = id.map { " in take \($0)" } ?? ""
            return (.answer(.done("recording goes on\(place)", take: id)), nil)
        case .cancelled(let number):
            let id = id(of: number)
            // The take may be over by now.
            let subject = id.map { "take \($0)" } ?? "the recording"
            return (.answer(.done("\(subject) is cancelled", take: id)), nil)
        case .stopped(let number): return claim(number, request, for: client)
        case .nothing:
            switch request.command {
            case .start:
                let id = status.take
                let object = id.map { " take \($0)" } ?? ""
                return (.answer(.done("already recording\(object)", take: id)), nil)
            case .stop, .toggle: return claim(candidate(for: request), request, for: client)
            default: return (refusal(of: request), nil)
            }
        }
    }

    /// The take whose text a stop gets that has nothing to stop: it was stopped already, or has
    /// ended by itself.
    private func candidate(for request: ControlRequest) -> Int? {
        guard let take = request.take else {
            return (entries.last { $0.claimant == nil } ?? entries.last)?.number
        }
        return entries.first { $0.take.id.text == take }?.number
    }

    /// Promises the text of a take to a client, if it is not promised yet.
    private mutating func claim(
        _ number: Int?, _ request: ControlRequest, for client: ControlClientID
    ) -> (ControlReply, Recorder.Entry?) {
        guard let index = entries.firstIndex(where: { $0.number == number }) else {
            return (refusal(of: request), nil)
        }
        let id = entries[index].take.id.text
        guard entries[index].claimant == nil else {
            let message = "take \(id) was stopped already; its text goes to the one who stopped it"
            return (.answer(.done(message, take: id)), nil)
        }
        entries[index].claimant = client
        entries[index].wasStopped = true
        entries[index].wantsReport = request.report == true
        let isOver = entries[index].conclusion != nil
        return (.wait(ControlAnswer(.waiting, take: id)), isOver ? entries[index] : nil)
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
                    hint: "its text, if there is one, is printed by: utter show \(take)",
                    status: .nothingRecorded), take: status.take))
    }

    private func id(of number: Int) -> String? {
        entries.first { $0.number == number }?.take.id.text
    }
}
