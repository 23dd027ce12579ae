// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Utter
internal import UtterTerminal

extension TakeSession {
    /// Lets a person begin and end takes, with keys, lines on a pipe and signals; how the process
    /// should exit: of several takes, as the last that failed.
    func talk(
        _ manner: TalkManner, longest: Duration, _ plan: TakePlan
    ) async throws(CommandFailure) -> ExitStatus {
        let taken = await signals.takeKeys(
            manner.key, answerTime: manner.wish == .toggle ? nil : manner.answerTime)
        let screen = makeScreen()
        do throws(CommandFailure) {
            let manner = try manner.possible(with: taken.controls)
            if let killed = taken.killed {
                StandardError.line(
                    "warning: utter was killed here (process \(killed)) and left the terminal in "
                        + "modes of its own; it is put right")
            }
            let scene = try makeScene(manner, taken.controls, longest, screen, plan)
            begin(scene)
            let status = manner.isForOne ? await one(scene) : await several(scene)
            running.detach()
            scene.dictation.shutDown()
            await signals.leaveKeys()
            screen.end()
            return running.farewellStatus ?? status
        } catch {
            await signals.leaveKeys()
            screen.end()
            throw error
        }
    }

    private struct Scene: Sendable {
        let dictation: Dictation
        let takes: AsyncStream<Take>
        let requests: DictationRequests
        let manner: TalkManner
        let controls: Signals.Controls
        let screen: StatusScreen
    }

    private func makeScene(
        _ manner: TalkManner, _ controls: Signals.Controls, _ longest: Duration,
        _ screen: StatusScreen, _ plan: TakePlan
    ) throws(CommandFailure) -> Scene {
        let stopWord = try KnownSettings.stopWord.value()
        let dictation = try orFailure {
            try Dictation(
                longest: longest, isForOne: manner.isForOne, listensAgain: !manner.isForOne
            ) { [self] _ in
                var plan = plan
                prepare(&plan.delivery)
                // A person with a key has no need of a word.
                if manner.isHandsFree { plan.delivery.rules.stopWord = stopWord }
                let take = pipeline.start(plan)
                running.begin(take)
                return take
            }
        }
        dictation.observe(tell: { [output] news in
            guard let text = manner.text(of: news), !output.quiet else { return }
            screen.write { StandardError.line(text) }
        })
        let requests = DictationRequests(to: dictation, isForOne: manner.isForOne) {
            [running] in running.obeyForAll($0)
        }
        return Scene(
            dictation: dictation, takes: dictation.takes, requests: requests, manner: manner,
            controls: controls, screen: screen)
    }

    /// Begins with the first take, or says how one does.
    private func begin(_ scene: Scene) {
        // Earlier requests are about the first take.
        let isStopped = running.attach(scene.requests.obey)
        if scene.manner.beginsAtOnce(with: scene.controls) {
            scene.dictation.handle(.start)
        } else if !output.quiet {
            StandardError.line(scene.manner.prompt(with: scene.controls))
        }
        if isStopped { scene.dictation.handle(.toggle) }
        if running.farewell != nil { scene.requests.finish() }
    }

    private func follow(_ take: Take, number: Int = 1, _ scene: Scene) async -> EndedTake {
        let stopHint = number == 1 ? scene.manner.stopHint(with: scene.controls) : nil
        return await show(
            take, by: take.delivery,
            TakeReporter(
                self, of: take, as: .recording, isHandsFree: scene.manner.isHandsFree,
                stopHint: stopHint, number: number, on: scene.screen))
    }

    private func one(_ scene: Scene) async -> ExitStatus {
        for await take in scene.takes {
            let ended = await follow(take, scene)
            // The person may be asked now, and answers with a line.
            await signals.leaveKeys()
            scene.screen.end()
            return await settle(ended)
        }
        return .cancelled
    }

    /// Follows take after take, and prints their texts in the order in which they were spoken.
    private func several(_ scene: Scene) async -> ExitStatus {
        let (ends, end) = AsyncStream<Task<EndedTake, Never>>.makeStream()
        async let status = conclude(ends, on: scene.screen)
        var number = 0
        for await take in scene.takes {
            number += 1
            end.yield(
                Task { [number] in
                    let ended = await follow(take, number: number, scene)
                    if ended.transcript?.hasStopWord == true { scene.requests.end() }
                    return ended
                })
        }
        end.finish()
        return await status
    }

    private func conclude(
        _ ends: AsyncStream<Task<EndedTake, Never>>, on screen: StatusScreen
    ) async -> ExitStatus {
        var last = ExitStatus.textPrinted
        for await end in ends {
            var ended = await end.value
            let status = await ended.conclude(on: screen, mayAsk: false)
            if status != .textPrinted, !status.isByRequest { last = status }
        }
        return last
    }
}

extension TalkManner {
    /// The words for a person; nil when the rest says it.
    fileprivate func text(of news: Dictation.News) -> String? {
        switch news {
        case .latched: "recording goes on: press \(key.title) to stop"
        case .limitNear(let time):
            "the recording ends in \(Int((time / .seconds(10)).rounded()) * 10) s, and is sent"
        case .limitReached: "stopped: the key was held for the longest time allowed"
        case .alreadyRecording, .alreadyPaused, .notRecording, .onlyOne: nil
        }
    }
}
