// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Utter

extension TakeSession {
    /// Lets a person begin and end takes, with keys, lines on a pipe and signals.
    ///
    /// - Parameters:
    ///   - manner: with which key, and how many.
    ///   - longest: how long one take is at most.
    ///   - isServiceUnset: whether neither the command line nor the environment names a service.
    ///   - plan: plans a take; called for each.
    /// - Returns: how the process should exit: of several takes, as the last that failed.
    /// - Throws: `CommandFailure` when the terminal cannot do what was asked for.
    func talk(
        _ manner: TalkManner, longest: Duration, isServiceUnset: Bool,
        _ plan: @escaping @Sendable () -> TakePlan
    ) async throws(CommandFailure) -> ExitStatus {
        let taken = await signals.takeKeys(
            manner.key, answerTime: manner.wish == .toggle ? nil : manner.answerTime)
        let live = makeLiveLine()
        do throws(CommandFailure) {
            let manner = try manner.possible(with: taken.controls)
            if let killed = taken.killed {
                StandardError.line(
                    "warning: utter was killed here (process \(killed)) and left the terminal in "
                        + "modes of its own; it is put right")
            }
            let talking = TalkSession(isForOne: manner.isForOne) {
                [pipeline, running, cassettes, showsProgress] in
                var plan = plan()
                plan.delivery.reportsProgress = showsProgress
                plan.delivery.cassettes = cassettes
                let take = pipeline.start(plan)
                running.begin(take)
                return (take, plan.delivery)
            } say: { [output] news in
                guard let text = manner.text(of: news), !output.quiet else { return }
                guard let live else { return StandardError.line(text) }
                live.write { StandardError.line(text) }
            } endAll: { [running] in
                running.obeyForAll($0)
            }
            let scene = Scene(
                talking: talking, talk: try makeTalk(talking, manner, longest), manner: manner,
                controls: taken.controls, live: live, isServiceUnset: isServiceUnset)
            begin(scene)
            let status = manner.isForOne ? await one(scene) : await several(scene)
            running.detach()
            scene.talk.shutDown()
            await signals.leaveKeys()
            live?.end()
            return running.farewellStatus ?? status
        } catch {
            await signals.leaveKeys()
            live?.end()
            throw error
        }
    }

    /// What belongs together while a person talks.
    private struct Scene: Sendable {
        let talking: TalkSession
        let talk: Talk
        let manner: TalkManner
        let controls: Signals.Controls
        let live: LiveLine?
        let isServiceUnset: Bool
    }

    private func makeTalk(
        _ talking: TalkSession, _ manner: TalkManner, _ longest: Duration
    ) throws(CommandFailure) -> Talk {
        do throws(SystemError) {
            let talk = try Talk(
                TalkMachine(
                    limits: TalkMachine.Limits(longest: longest), isForOne: manner.isForOne,
                    listensAgain: !manner.isForOne),
                delegate: talking)
            talking.obeys(talk)
            return talk
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Begins with the first take, or says how one does.
    private func begin(_ scene: Scene) {
        // What was asked before is about the first take.
        let isStopped = running.attach(scene.talking.obey)
        if scene.manner.beginsAtOnce(with: scene.controls) {
            scene.talk.handle(.start)
        } else if !output.quiet {
            StandardError.line(scene.manner.prompt(with: scene.controls))
        }
        if isStopped { scene.talk.handle(.toggle) }
        if running.farewell != nil { scene.talking.finish() }
    }

    private func reporter(of started: TalkSession.Started, _ scene: Scene) -> TakeReporter {
        reporter(
            as: .recording,
            stopHint: started.number == 1 ? scene.manner.stopHint(with: scene.controls) : nil,
            number: started.number, live: scene.live, isServiceUnset: scene.isServiceUnset)
    }

    /// Follows a take to its end.
    private func outcome(of started: TalkSession.Started, _ scene: Scene) async -> TakeOutcome {
        let outcome = await watch(started.take, reporter(of: started, scene)) { event in
            scene.talk.note(event, of: started.number)
        }
        scene.talk.settle(started.number, outcome)
        return outcome
    }

    /// Follows the only take.
    private func one(_ scene: Scene) async -> ExitStatus {
        for await started in scene.talking.started {
            let outcome = await outcome(of: started, scene)
            // The person may be asked now, and answers with a line.
            await signals.leaveKeys()
            scene.live?.end()
            return await settle(
                started.take, outcome, by: started.delivery,
                isServiceUnset: scene.isServiceUnset)
        }
        return .cancelled
    }

    /// Follows take after take, and prints their texts in the order in which they were spoken.
    private func several(_ scene: Scene) async -> ExitStatus {
        let (ended, ends) = AsyncStream<Ended>.makeStream()
        return await withTaskGroup(of: ExitStatus.self) { group in
            group.addTask { await conclude(ended, scene) }
            for await started in scene.talking.started {
                let outcome = Settlement<TakeOutcome>()
                ends.yield(Ended(started: started, outcome: outcome))
                group.addTask {
                    outcome.settle(await self.outcome(of: started, scene))
                    return .textPrinted
                }
            }
            ends.finish()
            return await group.reduce(.textPrinted) { $1 == .textPrinted ? $0 : $1 }
        }
    }

    /// A take whose outcome is awaited.
    private struct Ended: Sendable {
        let started: TalkSession.Started
        let outcome: Settlement<TakeOutcome>
    }

    private func conclude(_ ended: AsyncStream<Ended>, _ scene: Scene) async -> ExitStatus {
        var last = ExitStatus.textPrinted
        for await ended in ended {
            let status = await conclude(
                ended.started.take, await ended.outcome.value, by: ended.started.delivery,
                isServiceUnset: scene.isServiceUnset, live: scene.live, mayAsk: false)
            if status != .textPrinted, !status.isByRequest { last = status }
        }
        return last
    }
}

extension TalkManner {
    /// What a person is told; nil when the rest says it.
    fileprivate func text(of news: TalkMachine.News) -> String? {
        switch news {
        case .latched: latchedHint
        case .limitNear(let time):
            "the recording ends in \(Int((time / .seconds(10)).rounded()) * 10) s, and is sent"
        case .limitReached: "stopped: the key was held for as long as it may be"
        case .alreadyRecording, .notRecording, .onlyOne: nil
        }
    }
}
