// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Utter

@Suite("Push to talk: keys and commands become takes")
struct TalkMachineTests {
    private let start = ContinuousClock.now

    /// Feeds events, each so many milliseconds after the start, and collects what they cause.
    private func actions(
        _ events: KeyValuePairs<Int, TalkMachine.Event>, isForOne: Bool = false,
        listensAgain: Bool = false
    ) -> [TalkMachine.Action] {
        var machine = TalkMachine(isForOne: isForOne, listensAgain: listensAgain)
        return events.flatMap { machine.handle($1, at: start + .milliseconds($0)) }
    }

    @Test func aKeyThatIsHeldRecordsUntilItGoesUp() {
        var machine = TalkMachine()
        var phases: [Dictation.Phase] = []
        let events: KeyValuePairs<Int, TalkMachine.Event> = [
            0: .keyDown, 30: .take(1, .listening), 2_000: .keyUp, 2_300: .take(1, .captured),
            2_310: .take(1, .sent), 2_500: .take(1, .settled),
        ]
        var actions: [TalkMachine.Action] = []
        for (time, event) in events {
            actions += machine.handle(event, at: start + .milliseconds(time))
            phases.append(machine.phase)
        }
        #expect(actions == [.start(1), .stop(1)])
        #expect(phases == [.arming, .recording, .tail, .sending, .waiting, .idle])
    }

    @Test func aTapLatchesAndTheNextPressEnds() {
        let all = actions([0: .keyDown, 399: .keyUp, 5_000: .keyDown, 5_050: .keyUp])
        #expect(all == [.start(1), .tell(.latched), .stop(1)])
    }

    @Test func aReleaseBeforeTheMicrophoneIsOpenEndsTheTake() {
        #expect(actions([0: .keyDown, 400: .keyUp]) == [.start(1), .stop(1)])
    }

    @Test func aDoubledPressIsOne() {
        #expect(actions([0: .keyDown, 20: .keyDown, 900: .keyUp]) == [.start(1), .stop(1)])
    }

    @Test func aPressWhoseReleaseWasLostEndsTheTake() {
        #expect(
            actions([0: .keyDown, 3_000: .keyDown, 3_100: .keyUp]) == [.start(1), .stop(1)])
    }

    @Test func lostFocusLatchesAKeyThatIsHeld() {
        let all = actions([0: .keyDown, 900: .focusLost, 1_000: .keyUp, 2_000: .keyDown])
        #expect(all == [.start(1), .tell(.latched), .stop(1)])
    }

    @Test func aPressInsideTheTailGoesOn() {
        let all = actions([
            0: .keyDown, 900: .keyUp, 1_000: .keyDown, 1_001: .take(1, .resumed), 2_000: .keyUp,
        ])
        #expect(all == [.start(1), .stop(1), .resume(1), .stop(1)])
    }

    @Test func aKeyThatGoesUpInAPauseEndsNothing() {
        let all = actions([
            0: .keyDown, 900: .input(.pause), 1_000: .keyUp, 2_000: .input(.resume),
            3_000: .keyDown,
        ])
        #expect(all == [.start(1), .pause(1), .resume(1), .stop(1)])
    }

    @Test func aPauseIsAskedForOnceAndAStartEndsIt() {
        let all = actions([
            0: .input(.resume), 0: .input(.start), 1: .input(.pause), 2: .input(.pause),
            3: .input(.start), 4: .input(.pauseOrResume), 5: .input(.stop), 6: .input(.pause),
        ])
        #expect(
            all == [
                .tell(.notRecording), .start(1), .pause(1), .tell(.alreadyPaused), .resume(1),
                .pause(1), .stop(1), .tell(.notRecording),
            ])
    }

    /// The longest recording is one of sound.
    @Test func aPauseDoesNotCount() throws {
        var machine = TalkMachine(limits: TalkMachine.Limits(longest: .seconds(60)))
        _ = machine.handle(.input(.start), at: start)
        _ = machine.handle(.input(.pause), at: start + .seconds(20))
        #expect(machine.nextTime == nil)
        #expect(machine.handle(.time, at: start + .seconds(3_600)).isEmpty)
        _ = machine.handle(.input(.resume), at: start + .seconds(3_600))
        let warning = try #require(machine.nextTime)
        #expect(warning == start + .seconds(3_580 + 50))
    }

    @Test func aPressJustAfterTheTailBeginsTheNextTake() {
        var machine = TalkMachine()
        let events: KeyValuePairs<Int, TalkMachine.Event> = [
            0: .keyDown, 900: .keyUp, 1_200: .keyDown, 1_201: .take(1, .captured), 2_000: .keyUp,
        ]
        let all = events.flatMap { machine.handle($1, at: start + .milliseconds($0)) }
        #expect(all == [.start(1), .stop(1), .resume(1), .start(2), .stop(2)])
        #expect(machine.phase == .tail && machine.take == 2)
    }

    @Test func aPressWhileTheTakeBeforeIsSentBeginsTheNext() {
        let ending = actions([0: .start, 500: .stop, 800: .take(1, .captured), 900: .start])
        let sent = actions([
            0: .start, 500: .stop, 800: .take(1, .captured), 850: .take(1, .sent), 900: .start,
        ])
        #expect(ending == [.start(1), .stop(1), .start(2)])
        #expect(sent == ending)
    }

    @Test func commandsDoNotLatchAndMayComeTwice() {
        let all = actions([0: .start, 10: .start, 50: .stop, 60: .stop])
        #expect(
            all == [.start(1), .tell(.alreadyRecording), .stop(1), .tell(.notRecording)])
    }

    @Test func aMachineForOneTakeBeginsNoSecond() {
        let all = actions(
            [0: .keyDown, 900: .keyUp, 1_200: .take(1, .captured), 1_300: .keyDown], isForOne: true)
        #expect(all == [.start(1), .stop(1), .tell(.onlyOne)])
    }

    @Test func silenceEndsOnlyWhatNoKeyHolds() {
        #expect(actions([0: .keyDown, 5_000: .take(1, .fellSilent)]) == [.start(1)])
        #expect(actions([0: .toggle, 5_000: .take(1, .fellSilent)]) == [.start(1), .stop(1)])
    }

    @Test func whatSilenceEndsIsFollowedByTheNextWithoutAKey() {
        let all = actions(
            [
                0: .toggle, 5_000: .take(1, .fellSilent), 5_300: .take(1, .captured),
                5_330: .take(2, .listening), 9_000: .take(2, .fellSilent),
                9_300: .take(2, .captured),
            ], listensAgain: true)
        #expect(all == [.start(1), .stop(1), .start(2), .stop(2), .start(3)])
    }

    @Test(arguments: [TalkMachine.Event.toggle, .stop, .cancel, .take(2, .captured)])
    func whatAPersonEndsOrNoVoiceIsHeardInIsTheLast(_ end: TalkMachine.Event) {
        var machine = TalkMachine(listensAgain: true)
        let events: [TalkMachine.Event] = [
            .toggle, .take(1, .fellSilent), .take(1, .captured), .take(2, .listening), end,
            .take(2, .captured),
        ]
        let all = events.flatMap { machine.handle($0, at: start) }
        #expect(all.count { $0 == .start(2) } == 1 && !all.contains(.start(3)))
        #expect(machine.phase != .recording)
    }

    @Test func aStopInsideTheTailOfASilenceIsTheLast() {
        let all = actions(
            [0: .toggle, 5_000: .take(1, .fellSilent), 5_100: .stop, 5_300: .take(1, .captured)],
            listensAgain: true)
        #expect(all == [.start(1), .stop(1)])
    }

    @Test func aPressInsideTheTailOfASilenceGoesOnWithTheSentence() {
        let all = actions(
            [
                0: .toggle, 5_000: .take(1, .fellSilent), 5_100: .toggle, 5_101: .take(1, .resumed),
                8_000: .toggle, 8_300: .take(1, .captured),
            ], listensAgain: true)
        #expect(all == [.start(1), .stop(1), .resume(1), .stop(1)])
    }

    @Test func aGuardWarnsThenEndsAndSends() {
        var machine = TalkMachine()
        _ = machine.handle(.keyDown, at: start)
        #expect(machine.nextTime == start + .seconds(290))
        let warned = machine.handle(.time, at: start + .seconds(290))
        #expect(warned == [.tell(.limitNear(.seconds(10)))])
        #expect(machine.nextTime == start + .seconds(300))
        let ended = machine.handle(.time, at: start + .seconds(300))
        #expect(ended == [.tell(.limitReached), .stop(1)])
        #expect(machine.nextTime == nil)
        // The key that is still down is the old press.
        #expect(machine.handle(.keyUp, at: start + .seconds(301)) == [])
    }

    @Test func aLatchedRecordingMayBeLonger() {
        var machine = TalkMachine()
        _ = machine.handle(.toggle, at: start)
        #expect(machine.nextTime == start + .seconds(1_790))
    }

    @Test func theClockEndsALatchedRecordingASecondAfterItsPlanDoes() {
        var machine = TalkMachine(limits: TalkMachine.Limits(longest: .seconds(60)))
        _ = machine.handle(.toggle, at: start)
        let near = machine.handle(.time, at: start + .seconds(50))
        #expect(near == [.tell(.limitNear(.seconds(10)))])
        #expect(machine.nextTime == start + .seconds(61))
        let early = machine.handle(.time, at: start + .milliseconds(60_999))
        #expect(early.isEmpty)
        let over = machine.handle(.time, at: start + .seconds(61))
        #expect(over == [.tell(.limitReached), .stop(1)])
    }

    @Test func ofAShortRecordingNothingIsSaidBeforeItsEnd() {
        var machine = TalkMachine(limits: TalkMachine.Limits(longest: .seconds(20)))
        _ = machine.handle(.keyDown, at: start)
        #expect(machine.nextTime == start + .seconds(20))
        let over = machine.handle(.time, at: start + .seconds(20))
        #expect(over == [.tell(.limitReached), .stop(1)])
    }

    @Test func cancelMeansTheNewestTake() {
        let all = actions([
            0: .start, 500: .stop, 800: .take(1, .captured), 900: .start, 950: .cancel,
            960: .cancel, 970: .cancel,
        ])
        #expect(
            all == [
                .start(1), .stop(1), .start(2), .cancel(2), .cancel(1), .tell(.notRecording),
            ])
    }
}
