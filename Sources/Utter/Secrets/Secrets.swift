// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import SpeechService
internal import Synchronization

/// Asks for secrets, one question at a time, and shares the answers.
///
/// An answer counts for all takes of the same source and origin, until the service refuses it or it is
/// five minutes old. A failure is told to those who wait for that answer, and then forgotten.
final class SecretKeeper: Sendable {
    /// How long an answer is awaited: a person may have to find a key, or a password.
    static let patience = Duration.seconds(60)
    static let lifetime = Duration.seconds(300)

    struct Failure: Error, Equatable {
        var reason: String
    }

    private struct Key: Hashable {
        var source: SecretSource
        var origin: Origin
    }

    private struct Known {
        var secret: String
        var instant: Duration
        var isRefused = false
    }

    private struct State {
        var known: [Key: Known] = [:]
        /// The questions that are open or wait for their turn, and how many takes want the answer.
        var open: [Key: (task: Task<Result<String, Failure>, Never>, count: Int)] = [:]
        /// The one that was asked last: the next waits for its end.
        var last: Task<Result<String, Failure>, Never>?
    }

    private let provider: SecretProvider?
    /// The time by a clock that is never set.
    private let now: @Sendable () -> Duration
    private let patience: Duration
    private let state = Mutex(State())

    /// Asks a provider; without one there are no answers.
    init(
        _ provider: SecretProvider?, patience: Duration = patience,
        now: @escaping @Sendable () -> Duration = SecretKeeper.uptime
    ) {
        (self.provider, self.patience, self.now) = (provider, patience, now)
    }

    private static func uptime() -> Duration { beginning.duration(to: .now) }
    private static let beginning = ContinuousClock.now

    /// Asks for what a service lacks.
    ///
    /// Fails if one of them cannot be had, or if all are as they were (`refused`); others that the
    /// take has (`accepted`) are not asked for again.
    func credentials(
        of service: RecognitionService, afterRefusalOf refused: [Credential]? = nil,
        accepted: [Credential] = []
    ) async -> Result<[Credential], Failure> {
        var found: [Credential] = []
        for credential in service.unknownSecrets {
            let held = accepted.filter { credential.isAnswered(by: $0) }
            guard held.isEmpty else {
                found += held
                continue
            }
            let old = (refused ?? []).filter { credential.isAnswered(by: $0) }
            let answer = await secret(
                from: credential.source, to: service.url.origin, isRefused: !old.isEmpty
            ) { text in
                // A secret that cannot be used has not changed.
                (try? credential.answered(text)).map { Set(old).isSubset(of: $0) } ?? true
            }
            do {
                let named = service.credentials + found
                // The first field of a name counts.
                found += try credential.answered(answer.get()).filter { new in
                    credential.place != .fields || !named.contains { new.isAnswered(by: $0) }
                }
            } catch let error as Failure {
                return .failure(error)
            } catch {
                return .failure(Failure(reason: "\(credential.source): \(error)"))
            }
        }
        if let refused, Set(found).isSubset(of: refused + accepted) {
            note(refused: refused, of: service)
            return .failure(Failure(reason: "there is no other"))
        }
        if let part = service.partMissing(beside: found) {
            let reason = "\(service.url.origin) wants \(part), and there is none"
            return .failure(Failure(reason: reason))
        }
        return .success(found)
    }

    private func secret(
        from source: SecretSource, to origin: Origin, isRefused: Bool,
        _ isOld: (String) -> Bool
    ) async -> Result<String, Failure> {
        let key = Key(source: source, origin: origin)
        let task = state.withLock { state -> Task<Result<String, Failure>, Never> in
            if let open = state.open[key] {
                state.open[key]?.count += 1
                return open.task
            }
            // Another take may have had a newer one since.
            let known = state.known.removeValue(forKey: key)
            if let known, !known.isRefused, !(isRefused && isOld(known.secret)),
                now() - known.instant < Self.lifetime
            {
                state.known[key] = known
                return Task { .success(known.secret) }
            }
            let question = SecretQuestion(
                source: source, origin: origin, isRefused: isRefused || known?.isRefused == true)
            let task = Task { [self, last = state.last] in
                _ = await last?.value
                // A question that waited for its turn is not asked when the pipeline has ended.
                let answer = Task.isCancelled ? Self.ended : await answer(to: question)
                note(answer, as: key)
                return answer
            }
            (state.open[key], state.last) = ((task, 1), task)
            return task
        }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            leave(task, key)
        }
    }

    private func leave(_ task: Task<Result<String, Failure>, Never>, _ key: Key) {
        let isUnwanted = state.withLock { state in
            guard let open = state.open[key], open.task == task else { return false }
            state.open[key]?.count -= 1
            return open.count == 1
        }
        if isUnwanted { task.cancel() }
    }

    /// Notes that a service has refused answers, unless there are newer ones.
    func note(refused: [Credential], of service: RecognitionService) {
        for credential in service.unknownSecrets {
            let key = Key(source: credential.source, origin: service.url.origin)
            state.withLock { state in
                guard let known = state.known[key],
                    // A secret that cannot be used was not refused.
                    let answers = try? credential.answered(known.secret),
                    Set(answers).isSubset(of: refused)
                else { return }
                state.known[key]?.isRefused = true
            }
        }
    }

    private func note(_ answer: Result<String, Failure>, as key: Key) {
        state.withLock { state in
            state.open[key] = nil
            if state.open.isEmpty { state.last = nil }
            // Old answers to other questions are secrets that serve nothing.
            state.known = state.known.filter { now() - $0.value.instant < Self.lifetime }
            if case .success(let secret) = answer {
                state.known[key] = Known(secret: secret, instant: now())
            }
        }
    }

    /// Waits for the provider, or for the end of the time.
    private func answer(to question: SecretQuestion) async -> Result<String, Failure> {
        guard let provider else {
            return .failure(Failure(reason: "the program cannot read \(question.source)"))
        }
        let settlement = Settlement<Result<String, Failure>>()
        let asking = Task {
            do {
                settlement.settle(.success(try await provider(question)))
            } catch {
                settlement.settle(.failure(Failure(reason: "\(error)")))
            }
        }
        defer { asking.cancel() }
        let seconds = patience.components.seconds
        let late = Failure(reason: "\(question.source) gave no secret in \(seconds) s")
        return await withTaskCancellationHandler {
            await settlement.value(by: .now + patience, or: .failure(late))
        } onCancel: {
            settlement.settle(Self.ended)
        }
    }

    private static let ended = Result<String, Failure>.failure(
        Failure(reason: "the pipeline has ended"))

    var openCount: Int { state.withLock { $0.open.count } }

    func wantedCount(of service: RecognitionService) -> Int {
        let keys = service.unknownSecrets.map {
            Key(source: $0.source, origin: service.url.origin)
        }
        return state.withLock { state in keys.reduce(0) { $0 + (state.open[$1]?.count ?? 0) } }
    }

    func shutDown() {
        // Under the lock, which the end of a question takes, too: all are cancelled before the next one
        // has its turn.
        state.withLock { state in
            for open in state.open.values { open.task.cancel() }
        }
    }
}

extension TakeRun {
    /// Asks for the secrets that the plan names, and tells the machine with which exchange it begins
    /// then; from any thread, does not block.
    func ask(after refusal: TakeFailure?) {
        let asking = Task { [self] in
            // A 401 over plain HTTP may be the proxy's as well.
            let refused = secrets.filter { $0.place == .proxy || refusal?.refusesLogin != true }
            switch await pipeline.secrets.credentials(
                of: plan.service, afterRefusalOf: refusal.map { _ in refused },
                accepted: secrets.filter { !refused.contains($0) })
            {
            case .failure(let failure):
                handle(.secrets(.failure(.secretMissing(reason: failure.reason))))
            case .success(let secrets):
                hold(secrets)
                let traits = Settlement<ServiceTraits>()
                // The disk, which may hang, knows them.
                pipeline.sync.perform { [self] in
                    traits.settle(pipeline.traits(of: plan.service))
                }
                let known = await traits.value(
                    by: .now + Wiring.diskPatience, or: ServiceTraits())
                handle(.secrets(.success(openedExchange(isFirst: refusal == nil, known))))
            }
        }
        hold(asking)
    }

    /// The exchange that goes on where the one before has been: that has sent nothing if it is the
    /// first with secrets.
    private func openedExchange(isFirst: Bool, _ traits: ServiceTraits) -> any Exchange {
        let before = exchange
        let token = isFirst ? notedToken() : nil
        let request = before.request
        return openedPlan.makeExchange(
            from: before.progress,
            knowing: ServiceTraits(
                wantsLength: request.saysLength || isFirst && traits.wantsLength,
                longest: traits.longest),
            attemptsBefore: request.number - (isFirst || request.isForToken ? 1 : 0),
            takenBefore: before.takenCount, hasToken: token != nil)
    }

    /// The exchange that a new take begins with by what the disk knows of its service; nil while its
    /// secrets are asked for; blocks on the disk.
    func notedExchange(isCompleteSoon: Bool) -> (any Exchange)? {
        guard !plan.service.lacksSecrets else { return nil }
        var traits = pipeline.traits(of: plan.service)
        traits.wantsLength = isCompleteSoon || traits.wantsLength
        return plan.makeExchange(
            knowing: traits, hasToken: notedToken() != nil)
    }

    private func notedToken() -> Credential? {
        let token = pipeline.tokens.token(for: openedPlan.service)
        if let token { hold(token) }
        return token
    }
}
