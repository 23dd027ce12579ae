// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Capture
@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// An object store as a value: one object, and the uploads that may become it.
struct PartsStore {
    private(set) var uploads: [String: [Int: Range<Int>]] = [:]
    /// The ranges of the recording that were joined, in order.
    var object: [Range<Int>]?
    var isOfAnother = false
    private(set) var requests: [String] = []
    private var count = 0
    let smallest: Int
    var refusesParts = false
    /// Joins nothing, and says that there is a conflict.
    var refusesToJoin = false
    var refusesLooks = false
    /// Answers that come in the place of its own to a step, and how often; it may have heard of it.
    var lies: [(step: String, answer: Answer, times: Int, isHeard: Bool)] = []

    typealias Answer = (status: Int, headers: [(name: String, value: String)], body: String)

    init(smallest: Int) { self.smallest = smallest }

    mutating func forget() { uploads = [:] }

    /// Carries a request out, and answers it.
    mutating func take(_ request: ExchangeRequest, size: Int) -> Answer {
        guard let piece = request.piece else { return (400, [], "") }
        requests.append(piece.step.name)
        if let index = lies.firstIndex(where: { $0.step == piece.step.name && $0.times > 0 }) {
            lies[index].times -= 1
            if lies[index].isHeard { _ = answer(request, piece, size: size) }
            return lies[index].answer
        }
        return answer(request, piece, size: size)
    }

    private mutating func answer(
        _ request: ExchangeRequest, _ piece: PieceRequest, size: Int
    ) -> Answer {
        let query = request.url.target.split(separator: "?").dropFirst().first ?? ""
        let id = query.split(separator: "&").first { $0.hasPrefix("uploadId=") }
            .map { String($0.dropFirst(9)) }
        switch piece.step.name {
        case "whole":
            guard object == nil else { return (412, [], "") }
            object = [piece.start..<(piece.end ?? size)]
            return (200, [("etag", "\"whole\"")], "")
        case "create":
            count += 1
            uploads["u\(count)"] = [:]
            return (200, [], "<R><UploadId>u\(count)</UploadId></R>")
        case "part" where refusesParts:
            return (400, [], "<Error><Code>InvalidDigest</Code></Error>")
        case "part":
            guard let id, uploads[id] != nil, let end = piece.end else { return (404, [], "") }
            uploads[id]?[piece.number] = piece.start..<end
            return (200, [("etag", "\"\(piece.start)-\(end)\"")], "")
        case "complete": return join(id ?? "", request)
        case "look" where refusesLooks: return (403, [], "")
        case "look":
            guard let object else { return (404, [], "") }
            return (
                200,
                [
                    ("content-length", "\(object.reduce(0) { $0 + $1.count })"),
                    ("x-amz-meta-take", isOfAnother ? "another" : "this"),
                ], ""
            )
        case "list":
            guard let (id, _) = uploads.first else {
                return (200, [], "<L><Prefix>a.wav</Prefix></L>")
            }
            let row = "<Key>a.wav</Key><UploadId>\(id)</UploadId><Initiated>2026</Initiated>"
            return (200, [], "<L><Upload>\(row)</Upload></L>")
        case "abort":
            return uploads.removeValue(forKey: id ?? "") == nil ? (404, [], "") : (204, [], "")
        default: return (400, [], "")
        }
    }

    private mutating func join(_ id: String, _ request: ExchangeRequest) -> Answer {
        guard let parts = uploads[id] else { return (404, [], "") }
        guard !refusesToJoin else { return (409, [], "") }
        guard object == nil else { return (412, [], "") }
        let text = String(decoding: request.step?.content?.bytes ?? [], as: UTF8.self)
        let said = text.split(separator: "<Part>").dropFirst()
        let ordered = parts.keys.sorted().compactMap { parts[$0] }
        let isRight =
            said.count == parts.count
            && zip(said, parts.sorted { $0.key < $1.key }).allSatisfy { words, part in
                words.contains("<PartNumber>\(part.key)<")
                    && words.contains("\"\(part.value.lowerBound)-\(part.value.upperBound)\"")
            }
        guard isRight else { return (400, [], "<Error><Code>InvalidPart</Code></Error>") }
        guard ordered.dropLast().allSatisfy({ $0.count >= smallest }) else {
            return (400, [], "<Error><Code>EntityTooSmall</Code></Error>")
        }
        (object, uploads[id]) = (ordered, nil)
        return (200, [], "<R><ETag>\"x\"</ETag></R>")
    }
}

/// A take that is sent to such a store over a bad line, in any order, by programs that are killed.
struct PartsWorld {
    enum Fault: CaseIterable {
        case lost, unanswered, busy, forgotten, brokenAnswer, failedDone, killed
    }

    let size: Int
    private let delivery: DeliveryPlan
    var store: PartsStore
    private(set) var faults: [String] = []
    private(set) var mostAtOnce = 0
    private(set) var ending: TakeMachine.Ending?
    private(set) var made: [Fault] = []

    private var machine: TakeMachine
    private var journaled = 0
    private var isComplete: Bool
    private var awaited = Int.max
    private var noting: [Int: ExchangeRequest] = [:]
    private var running: [Int: ExchangeRequest] = [:]
    /// What the disk knows of the delivery.
    private var manifest: (progress: ExchangeProgress?, attempts: Int) = (nil, 0)
    private var unsaved: ExchangeProgress?
    /// What each part of an upload was when it was first sent.
    private var offered: [String: Range<Int>] = [:]
    private var turn = 0
    private var random: SeededRandom
    private var faultsLeft: Int

    /// `isLive`: the recording grows while it is sent.
    init(
        size: Int, isLive: Bool = false, faults: Int = 0, random: SeededRandom = SeededRandom(),
        _ change: (inout PartsPlan) -> Void = { _ in }
    ) throws {
        let text = try #require(ShippedProfiles.text(of: "s3"))
        let profile = try ServiceProfile(texts: [text])
        var service = try profile.service(
            words: ["bucket": "voices", "key": "a.wav"], format: ProfileFormat(codec: .wav))
        guard case .parts(var plan) = service.exchange else { throw CancellationError() }
        (plan.smallest, plan.largest) = (10, 40)
        change(&plan)
        service.exchange = .parts(plan)
        delivery = DeliveryPlan(service: service, format: .wav, retry: .standard)
        self.size = size
        self.random = random
        faultsLeft = faults
        store = PartsStore(smallest: plan.smallest)
        isComplete = !isLive
        journaled = isLive ? 0 : size
        machine = TakeMachine(TakeDelivery(start: 0, exchange: delivery.makeExchange()))
        if !isLive { machine = recovered() }
        obey(machine.handle(.opened(nil), at: now))
    }

    private var now: Moment { Moment(elapsed: .seconds(turn * 20)) }

    private func recovered() -> TakeMachine {
        TakeMachine(
            TakeDelivery(
                start: 0,
                exchange: delivery.makeExchange(
                    from: manifest.progress, attemptsBefore: manifest.attempts)),
            recorded: JournalSeal(byteCount: size, sha256: "", loss: nil))
    }

    /// Takes turns until the take has ended well.
    mutating func run() {
        while turn < 20_000, faults.isEmpty {
            if let ending {
                if case .success = ending.result { return }
                // Kept, and sent again later.
                if made.count > 200 { return }
                restart()
            }
            step()
        }
        faults.append("no end after \(turn) turns")
    }

    /// Takes turns until the take has ended.
    mutating func runOnce() {
        while ending == nil, faults.isEmpty { step() }
    }

    private mutating func step() {
        turn += 1
        var moves: [(inout PartsWorld) -> Void] = []
        if !isComplete { moves.append { $0.record() } }
        for lane in noting.keys.sorted() { moves.append { $0.note(lane) } }
        for lane in running.keys.sorted() { moves.append { $0.end(lane) } }
        guard let move = moves.randomElement(using: &random) else {
            if ending == nil { faults.append("nothing is left to do") }
            return
        }
        move(&self)
    }

    private mutating func record() {
        journaled = min(size, journaled + Int.random(in: 1...25, using: &random))
        grow()
        guard journaled == size, Bool.random(using: &random) else { return }
        isComplete = true
        obey(machine.handle(.captured(CaptureEnd(cause: .finished), isEmpty: false), at: now))
        let seal = JournalSeal(byteCount: size, sha256: "", loss: nil)
        obey(machine.handle(.sealed(seal), at: now))
    }

    /// Says what is there, if that is what is awaited.
    private mutating func grow() {
        guard journaled >= awaited else { return }
        awaited = .max
        obey(machine.handle(.grew(byteCount: journaled), at: now))
    }

    private mutating func note(_ lane: Int) {
        noting[lane] = nil
        obey(machine.handle(.noted(lane: lane), at: now))
    }

    private mutating func end(_ lane: Int) {
        guard let request = running.removeValue(forKey: lane), let piece = request.piece else {
            return
        }
        var fault: Fault?
        if faultsLeft > 0, Int.random(in: 0..<3, using: &random) == 0 {
            faultsLeft -= 1
            fault = Fault.allCases.randomElement(using: &random)
        }
        if let fault { made.append(fault) }
        if fault == .killed { return kill() }
        if fault == .forgotten { store.forget() }
        var reply = Reply(result: .test(.connectionLost("reset"), isBodyComplete: false))
        if fault == .busy {
            reply.result = .test(.answered, status: 503)
        } else if fault != .lost {
            let answer = store.take(request, size: size)
            reply.result = .test(.answered, status: answer.status)
            reply.result.headers = answer.headers
            reply.result.timings.end = .milliseconds(Int.random(in: 1...9_000, using: &random))
            let body = Array(answer.body.utf8)
            if (200..<300).contains(answer.status) {
                let text =
                    fault == .brokenAnswer && piece.step.name == "complete"
                    ? Array("<Error><Code>InternalError</Code></Error>".utf8) : body
                reply.verdict = piece.step.verdict(
                    on: StepAnswer(headers: answer.headers, body: text), isLast: false,
                    marking: "this")
                if case .failed? = reply.verdict {
                    reply.code = ServiceMessage.code(in: text, at: ErrorPlaces())
                }
            } else {
                reply.code = ServiceMessage.code(in: body, at: ErrorPlaces())
            }
            if fault == .failedDone, piece.step.name == "complete" {
                reply = Reply(result: .test(.answered, status: 500))
            }
            if fault == .unanswered {
                reply = Reply(result: .test(.connectionLost("reset"), isBodyComplete: true))
            }
        }
        obey(machine.handle(.ended(lane: lane, reply), at: now))
    }

    private mutating func kill() {
        // What was under way may have arrived.
        for request in running.values where Bool.random(using: &random) {
            _ = store.take(request, size: size)
        }
        restart()
    }

    private mutating func restart() {
        (noting, running, ending) = ([:], [:], nil)
        (isComplete, journaled, awaited) = (true, size, .max)
        machine = recovered()
        obey(machine.handle(.opened(nil), at: now))
    }

    private mutating func obey(_ actions: [TakeMachine.Action]) {
        for action in actions {
            switch action {
            case .await(let byteCount):
                awaited = byteCount
                grow()
            case .saveProgress(let progress): unsaved = progress
            case .note(let lane, let request):
                expect(noting[lane] == nil && running[lane] == nil, "two requests of one lane")
                manifest = (unsaved, max(manifest.attempts, request.number))
                noting[lane] = request
            case .start(let lane, let request, _): start(request, on: lane)
            case .breakOff(let lane):
                guard let request = running.removeValue(forKey: lane) else { break }
                if Bool.random(using: &random) { _ = store.take(request, size: size) }
                let reply = Reply(result: .test(.cancelled, isBodyComplete: false))
                obey(machine.handle(.ended(lane: lane, reply), at: now))
            case .settle(let ending):
                manifest.progress = unsaved
                self.ending = ending
            default: break
            }
        }
    }

    private mutating func start(_ request: ExchangeRequest, on lane: Int) {
        running[lane] = request
        mostAtOnce = max(mostAtOnce, running.count)
        guard let piece = request.piece else { return faults.append("a request of no kind") }
        if piece.step.content == .recording, let end = piece.end {
            expect(end <= journaled, "bytes that are not there")
            if piece.start == 0 { expect(isComplete, "the first bytes may change yet") }
        }
        if piece.number > 0, let end = piece.end {
            let name = request.url.target
            let before = offered[name] ?? piece.start..<end
            expect(before == piece.start..<end, "\(name) was \(before)")
            offered[name] = before
        }
        let ranges = running.values.compactMap { request in
            request.piece.flatMap { $0.number > 0 ? $0.number : nil }
        }
        expect(Set(ranges).count == ranges.count, "a part twice at once")
    }

    private mutating func expect(_ isRight: Bool, _ fault: @autoclosure () -> String) {
        if !isRight { faults.append("\(fault()), turn \(turn)") }
    }
}
