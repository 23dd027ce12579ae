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
        /// From 1 on; 0 is no client.
        func name(_ client: ControlClientID?) -> Int {
            guard let client else { return 0 }
            if names[client.number] == 0 {
                lastName += 1
                names[client.number] = lastName
            }
            return names[client.number]
        }
        func add(_ order: Order) {
            var flags = order.request.wait == true ? 1 : 0
            if order.request.press == "other" { flags |= 2 }
            if let time = order.request.time { flags |= time == 1 ? 8 : 4 }
            let number = order.command << 8 | ((order.take ?? -1) + 1) << 4 | name(order.client)
            key.add(number << 4 | flags)
        }
        let phase = Self.phases.firstIndex(of: talk.phase) ?? -1
        key.add((machine.requests << 2 | signals) << 8 | (talk.take ?? 0) << 4 | phase + 1)
        var flags = machine.isLeaving ? 1 : 0
        if machine.isClosing { flags |= 2 }
        if machine.isExpecting { flags |= 4 }
        if hasGivenUp { flags |= 8 }
        if hasOther { flags |= 16 }
        if talk.isLatched { flags |= 32 }
        if talk.isListening { flags |= 64 }
        key.add(flags)
        for client in timed { key.add(name(ControlClientID(number: client))) }
        key.add(-1)
        for held in machine.held {
            add(Order(request: held.request, take: nil, client: held.client))
            key.add(held.isOverdue.map { $0 ? 2 : 1 } ?? 0)
        }
        key.add(-1)
        for take in takes {
            var flags = take.isFollowed ? 1 : 0
            // The dictation remembers it until then.
            if !take.isFollowed, take.isHeard { flags |= 2 }
            if !take.isFollowed, take.isResuming { flags |= 4 }
            if !take.isFollowed, take.isPausing { flags |= 8 }
            if take.isAwaited { flags |= 16 }
            if take.isForgotten {
                flags |= 32
            } else {
                // The rest says how it came there, and changes nothing of what follows.
                if take.isCaptured { flags |= 64 }
                if take.isConcluded { flags |= 128 }
                if take.isCancelled { flags |= 256 }
                if take.isPrinted { flags |= 512 }
                if take.isTold { flags |= 1_024 }
                if take.isPlaced { flags |= 2_048 }
            }
            key.add(flags)
        }
        key.add(-2)
        for entry in machine.entries {
            let (owner, stage) = (Self.number(of: entry.owner), Self.number(of: entry.stage))
            var flags = entry.opening == .heard ? 1 : 0
            if entry.claim?.key != nil { flags |= 2 }
            if entry.request?.press == "other" { flags |= 4 }
            let clients = name(entry.claim?.client) << 4 | name(entry.starter)
            key.add(((entry.number << 8 | clients) << 8 | owner << 4 | stage) << 3 | flags)
        }
        key.add(-3)
        for order in orders { add(order) }
        key.add(-4)
        for (order, take) in resuming {
            add(order)
            key.add(take)
        }
        key.add(-5)
        var about: [Int] = []
        for (number, client) in clients.enumerated() {
            let state =
                switch client {
                case .asking: 1
                case .waiting: 2
                case .gone: 3
                case .given(let take): 10 + take
                }
            about.append(100 * names[number] + state)
        }
        for number in about.sorted() { key.add(number) }
        return key
    }

    private static func number(of owner: RecorderMachine.Entry.Owner) -> Int {
        switch owner {
        case .next: 1
        case .holder: 2
        case .claimant: 3
        case .gone: 4
        }
    }

    private static func number(of stage: RecorderMachine.Entry.Stage) -> Int {
        switch stage {
        case .recorded: 1
        case .captured: 2
        case .placing: 3
        case .concluded: 4
        case .printed: 5
        }
    }
}
