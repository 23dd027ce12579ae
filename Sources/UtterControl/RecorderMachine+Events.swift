// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform
package import Utter

// The machine's events, actions and memory.
extension RecorderMachine {
    package enum Event: Sendable {
        /// A client asks, or without one the program itself or a signal, which hear no answer.
        case asked(ControlRequest, ControlClientID?)
        /// The dictation has carried out a request; nil after its end.
        case carriedOut(ControlRequest, Dictation.Reply?, ControlClientID?)
        case began(Int, TakeID)
        /// The dictation could not begin a take.
        case failed(ControlFailure)
        case shown(Dictation.State)
        case news(Dictation.News)
        case told(TakeEvent, TakeID)
        case concluded(TakeConclusion)
        /// A text was given where its press says; the places that have not taken it have complained.
        case given(TakeID, complaints: [ToldLine])
        /// The fate of a take is on the disk.
        case placed
        /// The wait for a client that asks for a text is over.
        case outwaited(Int)
        /// A start has been held for long enough.
        case overdue(ControlClientID)
        /// The wait for the request that the recorder was begun for is over.
        case unasked
        /// A client that waited for a result has printed it, or has gone without.
        case left(ControlClientID, hasPrinted: Bool)
        /// The program is to end once the takes that run are over.
        case leave
    }

    package enum Action: Sendable {
        case reply(ControlReply, ControlClientID)
        case result(TakeConclusion, ControlClientID, wantsReport: Bool)
        case show(ControlStatus)
        /// Tell what has happened to a take: the person at the recorder, and its key's client.
        ///
        /// `key` is the one that is held.
        case news(Dictation.News, key: String?, ControlClientID?)
        /// Have the dictation carry it out, for the take of this number only unless that is nil.
        case obey(ControlRequest, onlyFor: Int?, ControlClientID?)
        /// The text of a take was printed: its audio may go.
        case release(Int)
        case forget(Int)
        /// Say when a start has been held for long enough.
        case hold(ControlClientID)
        case endTail(Int)
        /// Take the name of the socket away; those who follow ask again.
        case giveUp
        case sweep
        case report(ControlFailure)
        /// Tell the person at the recorder how a take ended whose text no client has got.
        case tell(TakeConclusion)
        case finish
    }

    package enum Purpose: Sendable {
        /// Takes, until it is told to end.
        case daemon
        /// A request that is about to come, and others until its take is over: with the last end
        /// that was asked for before, what tells the press from others, and whether it has said where
        /// the text goes.
        case request(ProcessBeginning?, press: String? = nil, hasPlaces: Bool = false)
    }

    /// A request that may begin a take.
    struct Held: Sendable {
        let request: ControlRequest
        let client: ControlClientID?
        /// Whether a start that has found a recording waits no longer for its end; nil of others.
        var isOverdue: Bool?
    }

    /// The client that gets the text of a take: the first that stopped it, or the one whose key has
    /// begun it.
    struct Claim: Sendable {
        let client: ControlClientID
        let request: ControlRequest
        /// The name of that key; nil of another client.
        var key: String?
        /// Whether it has a place for the text, so that those of the press do not count.
        var isPlaced: Bool { key != nil || request.placed == true }
    }

    /// A take, until its text is where it belongs.
    struct Entry: Sendable {
        enum Opening: Sendable, Equatable {
            /// Nothing is recorded yet; the client that began the take may wait for that.
            case awaited(by: ControlClientID?)
            case heard
        }

        enum Stage: Sendable {
            case recorded
            /// The microphone is closed, or was never open.
            case captured
            /// The text is on its way to the places of the press.
            case placing(TakeConclusion)
            case concluded(TakeConclusion)
            /// A client, or the places of the press, have the text.
            case printed(TakeConclusion)
        }

        /// The one that gets the text.
        enum Owner: Sendable {
            /// The first client that stops the take, or the next that asks once it has ended by itself.
            case next
            /// The client whose key has begun the take, and goes on with it.
            case holder(Claim)
            case claimant(Claim)
            /// No client, of a take that was stopped: the claimant has left, or there was none.
            case gone
        }

        let number: Int
        let id: TakeID
        /// The request that has begun it.
        let request: ControlRequest?
        var opening = Opening.awaited(by: nil)
        var stage = Stage.recorded
        var owner = Owner.next
        var trouble = TakeTrouble()

        var starter: ControlClientID? {
            if case .awaited(let client) = opening { client } else { nil }
        }

        var isCaptured: Bool { if case .recorded = stage { false } else { true } }

        var conclusion: TakeConclusion? {
            switch stage {
            case .recorded, .captured: nil
            case .placing(let end), .concluded(let end), .printed(let end): end
            }
        }

        var claim: Claim? {
            switch owner {
            case .holder(let claim), .claimant(let claim): claim
            case .next, .gone: nil
            }
        }

        var holder: ControlClientID? {
            if case .holder(let claim) = owner { claim.client } else { nil }
        }

        mutating func hold(_ claim: Claim) {
            owner = conclusion == nil ? .holder(claim) : .claimant(claim)
        }

        /// Whether its text waits for a client.
        var isLingering: Bool {
            switch (owner, stage) {
            case (.next, .concluded(let end)), (.next, .printed(let end)): end.answer.text != nil
            default: false
            }
        }

        /// Whether its text is printed, or asked for by no client.
        var isOver: Bool {
            switch stage {
            case .recorded, .captured, .placing: false
            case .concluded: claim == nil && !isLingering
            case .printed: true
            }
        }
    }
}
