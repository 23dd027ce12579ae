// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import TakeStore
internal import Upload

/// A recording in numbered parts, up to four at once, which the service joins at the end.
///
/// A small recording is one request. Otherwise an upload is made, each part is a range of the
/// recording, and one last request joins them. `progress` holds the upload and its parts before the
/// first byte that depends on them, so that another process goes on. A lost answer is looked up:
/// parts may be sent twice, and before joining again the service is asked what it has.
///
/// While the speaker speaks, the first part is kept back: its bytes may say the length. Each lane has
/// an engine, which judges its requests and knows its row of failures. A part that has failed goes
/// to the end of the queue.
struct PartsExchange: Exchange {
    /// Uploads in a row that may be begun because the service forgets them.
    private static let renewalLimit = 3
    /// Answers in a row after which nothing has moved.
    private static let standstillLimit = 8

    private let plan: PartsPlan
    private let delivery: DeliveryPlan
    private let fingerprint: String
    private var table = PartsTable()
    private var pace: PartsPace
    private var (engines, lanes): ([PostOnce], [PartsLane?]) = ([], [])
    private var number: Int
    private var generation = 0
    private var recording = RecordingExtent()
    private var (renewals, standstills) = (0, 0)
    /// The end of the delivery, once the upload is aborted; without one another upload is begun.
    private var ending: ExchangeStep?
    /// The folders of the place were made; an object is there, so that no upload is joined.
    private var (hasFolders, isRefused) = (false, false)
    /// The store has refused to say what is there.
    private var isBlind = false
    /// It has answered well to the request that ends the delivery, without a proof.
    private var claim: PartsTable.Claim?
    /// The request that ends the delivery may have done so.
    private var mayBeTaken = false
    private let takenBefore: Int

    init(
        _ plan: PartsPlan, _ delivery: DeliveryPlan, from progress: ExchangeProgress? = nil,
        attemptsBefore: Int = 0, takenBefore: Int = 0
    ) {
        self.plan = plan
        self.delivery = delivery
        number = attemptsBefore
        pace = PartsPace(limit: plan.parallel)
        fingerprint = delivery.fingerprint(with: ["parts"] + plan.steps.compactMap(\.url))
        var before = takenBefore
        if let progress, progress.plan == fingerprint {
            table = PartsTable(from: progress.values)
            mayBeTaken = progress.unknown != nil
            before -= mayBeTaken ? 1 : 0
        }
        self.takenBefore = max(0, before)
    }

    // MARK: - What is known

    var laneCount: Int { table.stage == .made ? pace.laneCount : 1 }

    var outlivesSecrets: Bool { true }
    var sendsDigest: Bool { false }
    var takenCount: Int { takenBefore + (mayBeTaken ? 1 : 0) }

    var storedByteCount: Int? {
        if ending == .answered { return recording.byteCount }
        return table.stage == .made ? table.storedByteCount : nil
    }

    var progress: ExchangeProgress? {
        guard table.stage != .none || mayBeTaken else { return nil }
        return ExchangeProgress(
            step: "parts", values: table.values, plan: fingerprint, unknown: mayBeTaken ? 1 : nil)
    }

    // MARK: - The requests

    var request: ExchangeRequest { request(of: lanes.firstIndex { $0 != nil } ?? 0) }

    func request(of index: Int) -> ExchangeRequest {
        guard lanes.indices.contains(index), let lane = lanes[index] else {
            return ExchangeRequest(
                number: number + 1, method: delivery.service.method, url: delivery.service.url,
                saysLength: true)
        }
        var request = engines[index].request
        request.number = lane.number
        request.isComplete = recording.isComplete
        guard let step = plan.step(of: lane.job) else { return request }
        let own = step.request(for: lane.job, plan, table, of: recording, by: delivery)
        request.url = lane.url ?? own.url
        request.saysLength = true
        request.step = own.step
        request.step?.carriesSecrets = delivery.trusts(request.url.origin)
        return request
    }

    mutating func begin(isComplete: Bool) -> ExchangeRequest {
        recording.isComplete = isComplete
        return request
    }
    mutating func begin(lane: Int, of recording: RecordingExtent) -> Beginning {
        self.recording = recording
        if recording.isComplete { table.release() }
        while lanes.count <= lane {
            lanes.append(nil)
            engines.append(delivery.makePartsEngine(plan))
        }
        if lanes[lane]?.generation != generation { lanes[lane] = nil }
        return lanes[lane] == nil ? beginNext(on: lane) : .request(request(of: lane))
    }

    private mutating func start(_ job: PartsTable.Job, on lane: Int) {
        number += 1
        if case .part(let index) = job { take(index) }
        if job == .create { table.stage = .asked }
        lanes[lane] = PartsLane(job: job, number: number, generation: generation)
    }

    /// Takes a part from the queue, or cuts it.
    private mutating func take(_ index: Int) {
        table.stage = .made
        table.queue.removeAll { $0 == index }
        guard index == table.parts.count else { return }
        table.cut(min(partByteCount, max(0, recording.byteCount - table.byteCount)))
    }

    private mutating func begin(_ job: PartsTable.Job, on lane: Int) -> Beginning {
        start(job, on: lane)
        return .request(request(of: lane))
    }

    private mutating func beginNext(on lane: Int) -> Beginning {
        let isAlone = lanes.allSatisfy { $0 == nil }
        if ending != nil { return isAlone ? begin(.abort, on: lane) : .idle }
        if table.stage != .made {
            guard isAlone else { return .idle }
            // A lost upload is looked for before it is made again.
            if mayBeTaken, canLook, recording.isComplete { return begin(.look, on: lane) }
            return beginFirst(on: lane)
        }
        if let index = table.queue.first { return begin(.part(index), on: lane) }
        if let beginning = beginPart(on: lane) { return beginning }
        return isAlone && table.isStored ? begin(.complete, on: lane) : .idle
    }

    private mutating func beginFirst(on lane: Int) -> Beginning {
        let isSmall = recording.byteCount <= plan.smallest
        if plan.part == nil || plan.whole != nil && isSmall && recording.isComplete {
            return recording.isComplete ? begin(.whole, on: lane) : .sealed
        }
        // The first part is kept back: one more is needed.
        let enough = 2 * plan.smallest
        guard recording.isComplete || recording.byteCount >= enough else {
            return .growth(to: enough)
        }
        guard plan.create != nil else { return beginPart(on: lane) ?? .idle }
        return begin(mustFind ? .find : .create, on: lane)
    }

    /// A new part, unless one of the lanes has cut it already.
    private mutating func beginPart(on lane: Int) -> Beginning? {
        let start = table.byteCount
        let rest = recording.byteCount - start
        guard rest > 0 || !recording.isComplete else {
            // An empty recording needs a part, too.
            return table.parts.isEmpty ? begin(.part(0), on: lane) : nil
        }
        if rest >= partByteCount || recording.isComplete {
            return begin(.part(table.parts.count), on: lane)
        }
        return .growth(to: start + partByteCount)
    }

    private var partByteCount: Int { pace.partByteCount(of: recording, behind: table, by: plan) }

    // MARK: - After a request

    mutating func record(_ result: TransferResult) {}

    mutating func record(_ result: TransferResult, lane index: Int) {
        guard let lane = lanes[index] else { return }
        note(result, of: lane.job)
        lay(lane)
        lanes[index] = nil
    }

    private mutating func note(_ result: TransferResult, of job: PartsTable.Job) {
        guard job.isLast else { return }
        // A store that fails may have done it nevertheless.
        if result.mayBeTaken || result.status ?? 0 >= 500 { mayBeTaken = true }
    }

    private var canLook: Bool { plan.look != nil && !isBlind }
    private var mustFind: Bool {
        table.stage == .asked && plan.abort != nil && delivery.uploadPlace != nil
    }

    /// Puts a part that was not stored back to the end of the queue.
    private mutating func lay(_ lane: PartsLane) {
        if case .part(let index) = lane.job, lane.generation == generation {
            table.queue.append(index)
        }
    }

    mutating func renew() {}
    mutating func next(after reply: Reply, isSpeaking: Bool, at now: Moment) -> ExchangeStep {
        next(after: reply, lane: 0, isSpeaking: isSpeaking, at: now)
    }

    mutating func next(
        after reply: Reply, lane index: Int, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep {
        guard let lane = lanes[index] else { return .idle }
        // Before it is judged: the others can go on.
        lanes[index] = nil
        note(reply.result, of: lane.job)
        guard lane.generation == generation else { return goOn }
        let ended = PartsEnd(
            lane: lane, index: index, reply: reply, isSpeaking: isSpeaking, now: now)
        let status = reply.result.ending == .answered ? reply.result.status : nil
        if case .folder(let folder) = lane.job, let status, status.settlesFolder {
            return makeFolder(folder + 1, ended)
        }
        let hasAll = reply.result.isBodyComplete || plan.step(of: lane.job)?.content != .recording
        if let status, (200..<300).contains(status), hasAll { return accept(ended) }
        switch (lane.job, status) {
        case (.abort, 404): return endAbort()
        case (.part, 404): return beginAnew(ended)
        // It was aborted, or joined already: that is looked for first.
        case (.complete, 404):
            let isGuess = !canLook && (isBlind || delivery.retry.unknownOutcome != .resend)
            if mayBeTaken, isGuess { return leaveUnknown }
            let step = beginAnew(ended)
            if canLook { mayBeTaken = true }
            return step
        case (.complete, 409): return beginAnew(ended)
        case (.whole, 409) where plan.folder != nil && !hasFolders: return makeFolder(0, ended)
        // The object that is there may be this recording.
        case (_, 412) where lane.job.isLast && canLook:
            isRefused = lane.job == .complete
            return stand(ended, for: .look)
        case (_, 412) where lane.job.isLast && mayBeTaken && isBlind: return leaveUnknown
        case (.look, 404):
            mayBeTaken = false
            return claim != nil ? disbelieve(ended, "it has not stored what it said") : stand(ended)
        case (.look, (400..<500)?) where status?.isPassing == false:
            isBlind = true
            return claim == .plain ? .answered : stand(ended)
        case (.find, (400..<500)?) where status?.isPassing == false:
            table.stage = .none
            return stand(ended)
        default: return judge(ended)
        }
    }

    /// The upload is gone: the delivery ends, or begins anew.
    private mutating func endAbort() -> ExchangeStep {
        if ending == .answered { return .answered }
        generation += 1
        (table, mayBeTaken) = (PartsTable(), false)
        return ending ?? goOn
    }

    private var leaveUnknown: ExchangeStep {
        .failed(delivery.unproved("whether it is stored is not known"))
    }

    private var goOn: ExchangeStep { .request(after: Pause(isOfNextStep: true)) }

    private mutating func accept(_ ended: PartsEnd) -> ExchangeStep {
        let (lane, reply) = (ended.lane, ended.reply)
        switch (lane.job, reply.verdict) {
        case (.abort, _): return endAbort()
        case (_, .failed(let message)?):
            // Such as an error in a body that began with a good status.
            var refused = ended
            refused.reply.failure = .serviceReported(
                message: delivery.service.redacted(message), code: reply.code)
            return judge(refused)
        case (let job, .next(let proof)?) where job.isLast && recording.isProved(by: proof):
            return .answered
        case (let job, let verdict) where job.isLast:
            claim = verdict == .next([:]) ? .plain : .odd
            if canLook { return stand(ended, for: .look) }
            return claim == .plain ? .answered : disbelieve(ended, "its answer proves nothing")
        case (.create, .next(let values)?):
            table.make(values)
            if !recording.isComplete { table.hold(partByteCount) }
        case (.part(let part), .next(let values)?) where table.parts[part].isProved(by: values):
            table.parts[part].tag = values["tag"] ?? ""
            pace.note(table.parts[part].range.count, in: reply.result.timings.end)
            engines[ended.index].noteProgress()
            standstills = 0
        case (.look, .next(let values)?):
            let isSent = takenCount > 0 || delivery.hasOwnName
            return end(with: recording.failure(of: values, isSent: isSent), ended)
        case (.look, .unusable(.missingText)?) where claim == .plain: return .answered
        case (.look, .unusable(.missingText)?): return end(with: .anotherObject(), ended)
        case (.find, .next(let found)?) where found["key"] == delivery.service.storeRoot?.key:
            table.captured = found
            start(.abort, on: ended.index)
            return goOn
        case (.find, .next?), (.find, .unusable(.missingText)?): table.stage = .none
        default:
            return disbelieve(ended, "its answer is not one of a store")
        }
        return ended.index < laneCount ? goOn : .idle
    }

    /// Judges an answer as one that was lost: what is true is looked up, or tried again.
    private mutating func disbelieve(_ ended: PartsEnd, _ reason: String) -> ExchangeStep {
        claim = nil
        var doubted = ended
        doubted.reply = ended.reply.unproved(reason)
        return judge(doubted)
    }

    /// An object is there: an upload that is not joined is aborted first, and not left behind.
    private mutating func end(with failure: TakeFailure?, _ ended: PartsEnd) -> ExchangeStep {
        let end = failure.map { ExchangeStep.failed($0) } ?? .answered
        ending = end
        guard isRefused, plan.abort != nil else { return end }
        start(.abort, on: ended.index)
        return goOn
    }

    /// Goes on after an answer that moves nothing, but not for ever.
    private mutating func stand(_ ended: PartsEnd, for job: PartsTable.Job? = nil) -> ExchangeStep {
        standstills += 1
        guard standstills <= Self.standstillLimit else { return judge(ended) }
        if let job { start(job, on: ended.index) }
        return goOn
    }

    /// Begins a new upload: the service has lost this one, or will not join it.
    private mutating func beginAnew(_ ended: PartsEnd) -> ExchangeStep {
        guard renewals < Self.renewalLimit else { return judge(ended) }
        renewals += 1
        guard ended.reply.result.status == 409, plan.abort != nil else { return endAbort() }
        start(.abort, on: ended.index)
        return goOn
    }

    /// Makes the folders from the outermost on, whatever the answers: some are there, or are not for us.
    private mutating func makeFolder(_ index: Int, _ ended: PartsEnd) -> ExchangeStep {
        hasFolders = index >= delivery.service.url.folders.count
        if !hasFolders { start(.folder(index), on: ended.index) }
        return goOn
    }

    /// Ends the delivery for good, once the upload is aborted.
    private mutating func giveUp(_ failure: TakeFailure, _ lane: PartsLane) -> ExchangeStep {
        lay(lane)
        guard failure.isForGood, !failure.refusesSecret, plan.abort != nil, table.stage == .made
        else { return .failed(failure) }
        ending = ending ?? .failed(failure)
        return .idle
    }

    /// Judges a reply as one to a recording.
    private mutating func judge(_ ended: PartsEnd) -> ExchangeStep {
        let (lane, index, reply) = (ended.lane, ended.index, ended.reply)
        lanes[index] = lane
        engines[index].lead(to: request(of: index).url)
        lanes[index] = nil
        let next = engines[index].next(
            after: reply, isSpeaking: ended.isSpeaking, at: ended.now)
        switch next {
        case .request(let pause):
            let isRedirect = [307, 308].contains(reply.result.status)
            var job = lane.job
            // Which part is next does not matter; what ends it is looked up, unless nothing is there.
            if case .part(let part) = job, !isRedirect {
                table.queue.append(part)
                job = .part(table.queue[0])
            }
            if job.isLast, mayBeTaken, canLook { job = .look }
            if job == .create, mustFind { job = .find }
            if job == .look, !mayBeTaken { return .request(after: pause) }
            start(job, on: index)
            if isRedirect { lanes[index]?.url = engines[index].request.url }
            return .request(after: pause)
        // An upload that could not be aborted yet is kept, and one that may not be aborted is left.
        case .failed(let failure) where lane.job == .abort:
            let isForbidden = failure.isForGood || reply.result.status == 403
            return isForbidden ? endAbort() : ending ?? .failed(failure)
        case .failed(let failure): return giveUp(failure, lane)
        case .answered, .answeredInPart, .idle:
            return giveUp(.responseUnusable(reason: "it answered before it had all"), lane)
        }
    }
}
