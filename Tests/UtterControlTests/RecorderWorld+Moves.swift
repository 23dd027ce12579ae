// SPDX-License-Identifier: Apache-2.0

@testable import Utter
@testable import UtterControl

// What may happen next, and what a state is told apart by.
extension RecorderWorld {
    /// All that may happen now.
    var legal: [Move] {
        var all: [Move] = []
        if clients.count < Self.crowd - ([.command, .looping].contains(purpose) ? 1 : 0) {
            if hasKeys {
                all += [.ask(.start), .ask(.stop)]
                all += [.key(.keyDown), .key(.keyUp), .key(.keyUp, isHeld: true)]
                all += takes.isEmpty ? [] : [.key(.stop), .key(.cancel)]
            } else {
                all += [.ask(.start), .ask(.start, waits: true), .ask(.stop), .ask(.toggle)]
                all += [.ask(.cancel)] + (takes.isEmpty ? [] : [.ask(.stop, take: 1)])
                let mayPause = purpose == .daemon && takes.count == 1 && !hasOther && signals == 0
                if mayPause { all.append(.ask(.pauseOrResume)) }
                if !hasOther { all += [.askOtherwise(.start), .askOtherwise(.toggle)] }
            }
        }
        if signals == 0, !isFinished { all += hasKeys ? [.end] : [.signal(.toggle), .end] }
        for (index, client) in clients.enumerated() {
            switch client {
            case .waiting: all.append(.leave(index, hasPrinted: false))
            case .given: all += [true, false].map { .leave(index, hasPrinted: $0) }
            case .asking, .gone: break
            }
        }
        for (index, take) in takes.enumerated() where !take.isCaptured {
            // Only those who wait for a start are told.
            if !take.isHeard, !hasKeys { all.append(.step(index + 1, .listening)) }
            if take.isResuming { all.append(.step(index + 1, .resumed)) }
            if take.isPausing { all.append(.step(index + 1, .paused)) }
            // Two sentences are as good as any number.
            let mayFallSilent = purpose == .looping && takes.count == 1 && talk.isLatched
            if mayFallSilent, take.isHeard || hasKeys { all.append(.step(index + 1, .fellSilent)) }
        }
        return all + owed + (orders.isEmpty || hasKeys ? [] : [.carryOut(canRecord: false)])
    }

    /// What happens sooner or later by itself.
    var owed: [Move] {
        var all: [Move] = orders.isEmpty ? [] : [.carryOut(canRecord: true)]
        if machine.isExpecting { all.append(.unasked) }
        all += timed.map { .overdue($0) }
        for (index, take) in takes.enumerated() {
            if !take.isCaptured {
                all.append(purpose == .looping ? .told(index + 1) : .step(index + 1, .captured))
            } else if !take.isFollowed, purpose == .looping {
                all.append(.step(index + 1, .captured))
            }
            if take.isCaptured, !take.isConcluded { all.append(.conclude(index + 1)) }
            let isDue = machine.due(Self.id(index + 1)) != nil
            if isDue { all += [true, false].map { .place(index + 1, isTaken: $0) } }
            if take.isAwaited, !isDue { all.append(.waited(index + 1)) }
        }
        return all
    }

    /// What happens by itself: what is owed, and then each text is printed; nil at the end.
    var next: Move? {
        if let move = owed.first { return move }
        let given = clients.firstIndex { if case .given = $0 { true } else { false } }
        return given.map { .leave($0, hasPrinted: true) }
    }

    /// The sum by which states are told apart.
    ///
    /// Clients differ by what they are about, and not by which of them came first: they are named in
    /// the order in which the rest of the state speaks of them.
    var key: StateSum {
        var key = StateSum()
        var names = clients.map { _ in 0 }
        var lastName = 0
        func add(_ client: ControlClientID?) {
            guard let client else { return key.add(-1) }
            if names[client.number] == 0 {
                lastName += 1
                names[client.number] = lastName
            }
            key.add(names[client.number])
        }
        func add(_ order: Order) {
            key.add(order.command)
            key.add(order.take ?? -1)
            add(order.client)
            key.add(order.request.wait == true)
            key.add(Int(order.request.time ?? -1))
            key.add(order.request.press == "other")
        }
        key.add(machine.requests)
        key.add(signals)
        key.add(talk.take ?? 0)
        key.add(Self.phases.firstIndex(of: talk.phase) ?? -1)
        key.add(machine.isLeaving)
        key.add(machine.isClosing)
        key.add(machine.isExpecting)
        key.add(hasGivenUp)
        key.add(hasOther)
        for client in timed { add(ControlClientID(number: client)) }
        for held in machine.held {
            add(Order(request: held.request, take: nil, client: held.client))
            key.add(held.isOverdue.map { $0 ? 2 : 1 } ?? 0)
        }
        key.add(talk.isLatched)
        key.add(talk.isListening)
        key.add(-1)
        for take in takes {
            key.add(take.isFollowed)
            // The dictation remembers it until then.
            key.add(!take.isFollowed && take.isHeard)
            key.add(!take.isFollowed && take.isResuming)
            key.add(!take.isFollowed && take.isPausing)
            key.add(take.isAwaited)
            key.add(take.isForgotten)
            // The rest says how it came there, and changes nothing of what follows.
            if take.isForgotten { continue }
            key.add(take.isCaptured)
            key.add(take.isConcluded)
            key.add(take.isCancelled)
            key.add(take.isPrinted)
            key.add(take.isTold)
            key.add(take.isPlaced)
        }
        key.add(-2)
        for entry in machine.entries {
            key.add(entry.number)
            add(entry.claim?.client)
            add(entry.starter)
            key.add(entry.opening == .heard)
            key.add(entry.claim?.key != nil)
            switch entry.owner {
            case .next: key.add(1)
            case .holder: key.add(2)
            case .claimant: key.add(3)
            case .gone: key.add(4)
            }
            switch entry.stage {
            case .recorded: key.add(1)
            case .captured: key.add(2)
            case .placing: key.add(3)
            case .concluded: key.add(4)
            case .printed: key.add(5)
            }
            key.add(entry.request?.press == "other")
        }
        key.add(-3)
        for order in orders { add(order) }
        key.add(-4)
        for (order, take) in resuming {
            add(order)
            key.add(take)
        }
        key.add(-5)
        let about = zip(names, clients).map { name, client in
            let state =
                switch client {
                case .asking: 1
                case .waiting: 2
                case .gone: 3
                case .given(let take): 10 + take
                }
            return 100 * name + state
        }
        for number in about.sorted() { key.add(number) }
        return key
    }
}
