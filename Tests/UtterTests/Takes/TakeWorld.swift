// SPDX-License-Identifier: Apache-2.0

@testable import Capture
@testable import LinuxPlatform
@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// A take's machine among loops that do what they are asked for, in any order.
///
/// It knows what may happen next, and what must never follow from it.
struct TakeWorld {
    enum Ending: CaseIterable {
        case answered, early, busy, lost, unknown, refused, lengthRequired, brokenOff
    }

    enum Move: Equatable {
        case opened, diskIsSlow, captured, capturedNothing, sealed, sealedNothing
        case noted(Int), heard(Int), ended(Int, Ending), digested
        case began, secretsKnown, secretsMissing
        case stop, resume, resumed, heardEnd, cancel, leave, abandoned
        case pause, paused, pauseLasts
    }

    private(set) var machine: TakeMachine
    private(set) var moves: [Move] = []
    /// What the machine has done wrong, in words.
    private(set) var faults: [String] = []
    private(set) var ending: TakeMachine.Ending?

    private let isKept: Bool
    private let diskMayBeSlow, mayPause: Bool
    private var isOpened = false
    private var isCaptured: Bool
    private var isSealed: Bool
    private var noting: [Int: ExchangeRequest] = [:]
    private var running: [Int: (request: ExchangeRequest, pause: Pause)] = [:]
    private var brokenOff: Set<Int> = []
    private var isDigesting = false
    /// Nothing may be sent any more.
    private var isDecided = false
    /// The requests of each lane that have begun, and those of which the end is written down.
    private var begun: [Int: [Int]] = [:]
    private var saved: [Int] = []
    private var isSealSaved = false
    /// How often the secrets were asked for, and whether their answer is awaited.
    private var askCount = 0
    private var isAsking = false
    private let wantsSecrets: Bool
    private var isAnswered = false
    /// Whether the recording may be asked to go on, and whether it was.
    private var isEndFinal = false
    private var isResuming = false
    private var isPausing = false
    /// The pause of which it is told that it lasts.
    private var awaitedPause: Int?

    init(_ machine: TakeMachine, diskMayBeSlow: Bool = false, mayPause: Bool = false) {
        (self.machine, self.diskMayBeSlow, self.mayPause) = (machine, diskMayBeSlow, mayPause)
        wantsSecrets = !machine.secrets.areKnown
        if case .delivering = machine.phase { isKept = true } else { isKept = false }
        (isCaptured, isSealed) = (isKept, isKept)
    }

    // MARK: - What may happen

    /// What may happen next: what stages and loops owe, and what a person may ask for once.
    var legal: [Move] {
        if moves.last == .abandoned { return [] }
        var legal: [Move] = [.abandoned]
        if mayOpen { legal.append(.opened) }
        if mayOpen, diskMayBeSlow, !moves.contains(.diskIsSlow) { legal.append(.diskIsSlow) }
        if !isCaptured { legal += [.captured, .capturedNothing] }
        if wantsSecrets, !isCaptured, !moves.contains(.began) { legal.append(.began) }
        if isAsking { legal += [.secretsKnown, .secretsMissing] }
        if isCaptured, !isSealed { legal.append(isOpened ? .sealed : .sealedNothing) }
        for lane in noting.keys.sorted() { legal.append(.noted(lane)) }
        for lane in running.keys.sorted() {
            if !moves.contains(.heard(lane)) { legal.append(.heard(lane)) }
            legal += endings(of: lane).map { .ended(lane, $0) }
        }
        if isDigesting { legal.append(.digested) }
        if isResuming, !isCaptured { legal.append(.resumed) }
        if moves.contains(.stop) || moves.contains(.pause), !moves.contains(.resume) {
            legal.append(.resume)
        }
        if mayPause, !isCaptured, !moves.contains(.pause) { legal.append(.pause) }
        if isPausing, !isCaptured { legal.append(.paused) }
        if awaitedPause != nil { legal.append(.pauseLasts) }
        if !running.isEmpty, !moves.contains(.heardEnd) { legal.append(.heardEnd) }
        return legal + [.stop, .cancel, .leave].filter { !moves.contains($0) }
    }

    private var mayOpen: Bool { !isOpened && (isKept || !isSealed) }

    /// A body that is whole has an end, which only a complete recording and a lane that is wanted have;
    /// the disk may not have taken all of it.
    private func endings(of lane: Int) -> [Ending] {
        if brokenOff.contains(lane) { return [.brokenOff, .early, .unknown] }
        let partly: [Ending] = [.early, .lost, .refused, .lengthRequired]
        return isCaptured ? partly + [.answered, .busy, .unknown] : partly
    }

    /// What leads to the end of the take, if nothing more goes wrong; nil when nothing is owed.
    var next: Move? {
        if let lane = noting.keys.min() { return .noted(lane) }
        if let lane = brokenOff.min() { return .ended(lane, .brokenOff) }
        if isAsking { return .secretsKnown }
        if mayOpen { return .opened }
        if !isCaptured { return .captured }
        if !isSealed { return isOpened ? .sealed : .sealedNothing }
        return running.keys.min().map { .ended($0, .answered) }
    }

    // MARK: - What must follow

    /// Lets something happen, and looks at what the machine asks for.
    mutating func make(_ move: Move) {
        moves.append(move)
        let wasSettled = ending != nil
        var (awaitsSeal, paused): ([Int], [Int]) = ([], [])
        if move == .sealed {
            awaitsSeal = machine.delivery.lanes.indices.filter {
                if case .waiting(.seal) = machine.delivery.lanes[$0] { true } else { false }
            }
            paused = running.keys.filter {
                running[$0]?.pause.isForSpeaker == true && !brokenOff.contains($0)
            }
        }
        let event = happen(move)
        let actions = machine.handle(event, at: Moment(elapsed: .seconds(moves.count)))
        expect(!wasSettled || actions.isEmpty, "something follows the end: \(actions)")
        for action in actions { obey(action) }
        if move == .sealed, !wasSettled {
            expect(actions.compactMap(\.hurried).sorted() == paused.sorted(), "not all hurry")
            expect(actions.compactMap(\.noted) == awaitsSeal, "what awaited the seal stays")
        }
        if [.cancel, .leave].contains(move), let end = actions.firstIndex(where: \.endsCapture) {
            let isLast = actions[end...].allSatisfy { $0.brokenOff == nil }
            expect(isLast, "the recording ends before the body is broken off")
        }
        for lane in machine.delivery.lanes.indices where machine.isWanted(lane) {
            expect(
                running[lane] != nil && !brokenOff.contains(lane) && !isDecided,
                "a body of lane \(lane) may end")
        }
    }

    /// The event of a move; what it says of the world is true before the machine hears of it.
    private mutating func happen(_ move: Move) -> TakeMachine.Event {
        switch move {
        case .opened:
            isOpened = true
            return .opened(nil)
        case .diskIsSlow: return .diskIsSlow(.seconds(1))
        case .captured:
            isCaptured = true
            return .captured(CaptureEnd(cause: .finished), isEmpty: false)
        case .capturedNothing:
            isCaptured = true
            isDecided = true
            return .captured(
                CaptureEnd(cause: .source(.deviceNotFound(device: "none"))), isEmpty: true)
        case .sealed:
            isSealed = true
            return .sealed(JournalSeal(byteCount: 1_000, sha256: "", loss: nil))
        case .sealedNothing:
            isSealed = true
            isDecided = true
            let loss = SystemError(call: "memory", code: 12)
            return .sealed(JournalSeal(byteCount: 0, sha256: "", loss: loss))
        case .noted(let lane):
            if isDecided, let request = noting[lane] {
                // It does not begin; that is written down at once.
                begun[lane, default: []].append(request.number)
            }
            noting[lane] = nil
            return .noted(lane: lane)
        case .heard(let lane): return .heard(lane: lane, Transcript())
        case .ended(let lane, let ending):
            running[lane] = nil
            let isWanted = brokenOff.remove(lane) == nil
            let isAskedAgain = ending == .refused && askCount == 1
            if isWanted, [.answered, .refused].contains(ending), !isAskedAgain {
                isDecided = true
            }
            isAnswered = isAnswered || isWanted && [.answered, .early].contains(ending)
            return .ended(lane: lane, Reply(result: ending.result))
        case .digested:
            isDigesting = false
            return .digested("digest")
        case .began: return .began
        case .secretsKnown:
            isAsking = false
            var exchange = machine.delivery.exchange
            if askCount > 1 { exchange.renew() }
            return .secrets(.success(exchange))
        case .secretsMissing:
            isAsking = false
            isDecided = true
            return .secrets(.failure(.secretMissing(reason: "there is none")))
        case .stop: return .stop
        case .resume: return .resume
        case .resumed:
            isResuming = false
            return .resumed
        case .pause: return .pause
        case .paused:
            isPausing = false
            return .paused(frame: 100)
        case .pauseLasts:
            defer { awaitedPause = nil }
            return .pauseLasts(frame: awaitedPause ?? 0)
        case .heardEnd: return .heardEnd
        case .cancel:
            isDecided = true
            return .cancel
        case .leave:
            isDecided = true
            return .leave
        case .abandoned: return .abandoned
        }
    }

    private mutating func obey(_ action: TakeMachine.Action) {
        expect(ending == nil, "\(action) after the end")
        switch action {
        case .note(let lane, let request):
            let mayBegin = isOpened || moves.contains(.diskIsSlow)
            expect(mayBegin, "a request before the disk is heard, or known to be slow")
            let isOpen = !wantsSecrets || askCount > 0 && !isAsking
            expect(isOpen, "a request without its secrets")
            expect(noting[lane] == nil && running[lane] == nil, "two requests of lane \(lane)")
            expect(!isDecided, "a request that is not wanted")
            expect(isSealed || !request.saysLength, "a length that is not known")
            let last = begun[lane]?.last ?? request.number - 1
            expect(request.number == last + 1, "a number is missing")
            noting[lane] = request
        case .start(let lane, let request, let pause):
            expect(moves.last == .noted(lane), "a request that is not written down")
            expect(running[lane] == nil && !isDecided, "a request too many")
            expect(isSealed || !request.saysLength, "a length that is not known")
            expect(
                !isSealed || !pause.isForSpeaker || pause.duration == pause.atLeast,
                "a pause for a speaker who has ended")
            begun[lane, default: []].append(request.number)
            running[lane] = (request, pause)
        case .hurry(let lane): expect(running[lane] != nil, "nothing to be hurried")
        case .breakOff(let lane):
            expect(running[lane] != nil, "nothing to be broken off")
            let isNews = brokenOff.insert(lane).inserted
            expect(isNews, "broken off twice")
        case .digest:
            expect(isSealed, "a digest before the seal")
            let isNews = !isDigesting
            isDigesting = true
            expect(isNews, "a digest that is being computed")
        case .ask(let refusal):
            askCount += 1
            isAsking = true
            let number = askCount
            expect(number == (refusal == nil ? 1 : 2), "question number \(number)")
            let isHeard = isKept || isCaptured || moves.contains(.began)
            expect(isHeard, "a question before the voice")
            expect(running.isEmpty && noting.isEmpty, "a question beside a request")
        case .saveAttempt(let attempt): saved.append(attempt.number)
        case .saveSeal: isSealSaved = true
        case .settle(let ending): settle(ending)
        case .endCapture: isEndFinal = isEndFinal || moves.last != .stop
        case .resumeCapture:
            expect(!isEndFinal, "a recording goes on that has to end")
            expect(!isCaptured, "a recording goes on that has ended")
            (isResuming, isPausing) = (true, false)
        case .pauseCapture:
            expect(!isEndFinal && !isCaptured, "a recording pauses that has to end")
            isPausing = true
        case .awaitPause(let frame): awaitedPause = frame
        case .await, .cut, .remember, .saveProgress, .saveAgain, .savePause, .tell: break
        }
    }

    private mutating func settle(_ ending: TakeMachine.Ending) {
        self.ending = ending
        guard moves.last != .abandoned else { return }
        expect(isCaptured && isSealed, "the end before that of the recording")
        expect(running.isEmpty && noting.isEmpty, "the end before that of a request")
        expect(isKept || isSealSaved, "the end before the seal is written down")
        let numbers = begun.values.flatMap { $0 }.sorted()
        let ended = saved.sorted()
        expect(ended == numbers, "\(numbers) began, \(ended) are known to have ended")
        // Whatever has no answer is kept: an outcome that is a success removes the audio.
        if case .success = ending.result { expect(isAnswered, "an answer from nowhere") }
        expect(ending.seal != nil, "the end without a seal")
        // Whatever a service says of it: there was nothing.
        let before = moves.prefix { $0 != .capturedNothing }
        if before.count < moves.count, !before.contains(.cancel), !before.contains(.leave) {
            var isOfCapture = false
            if case .failure(.capture) = ending.result { isOfCapture = true }
            expect(isOfCapture, "\(ending.result) of a microphone that was not there")
        }
    }

    private mutating func expect(_ isRight: Bool, _ fault: @autoclosure () -> String) {
        if !isRight { faults.append("\(fault()), after \(moves)") }
    }
}

extension TakeWorld.Ending {
    var result: TransferResult {
        let isWhole = [.answered, .busy, .unknown].contains(self)
        let (ending, status): (TransferResult.Ending, Int?) =
            switch self {
            case .answered, .early: (.answered, 200)
            case .busy: (.answered, 503)
            case .refused: (.answered, 401)
            case .lengthRequired: (.answered, 411)
            case .lost, .unknown: (.connectionLost("reset"), nil)
            case .brokenOff: (.cancelled, nil)
            }
        return TransferResult(
            ending: ending, status: status, headers: [], sentByteCount: 10, wireByteCount: 10,
            isBodyComplete: isWhole, timings: TransferTimings())
    }
}

extension TakeMachine.Action {
    fileprivate var noted: Int? { if case .note(let lane, _) = self { lane } else { nil } }
    fileprivate var hurried: Int? { if case .hurry(let lane) = self { lane } else { nil } }
    fileprivate var brokenOff: Int? { if case .breakOff(let lane) = self { lane } else { nil } }
    fileprivate var endsCapture: Bool { if case .endCapture = self { true } else { false } }
}
