// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Utter
@testable import UtterCommands
@testable import UtterControl

@Suite struct ControlStatusTests {
    private var recording: ControlStatus {
        var status = ControlStatus()
        (status.phase, status.take, status.elapsedMs) = (.recording, "id", 63_400)
        (status.level, status.text) = (-30, "<b> you & \u{1B}[31mme")
        return status
    }

    @Test func plainOneIsOneLineWithoutControls() {
        #expect(ControlStatus().line(as: .plain) == "idle")
        #expect(
            recording.line(as: .plain) == "recording  1:03.4  -30 dBFS  id  <b> you & me")
    }

    @Test(arguments: [
        (Dictation.Reply.cancelled(7), "the recording is cancelled"),
        (.resumed(7), "recording goes on"),
    ]) func aTakeThatIsOverByNowIsNotNamed(_ reply: Dictation.Reply, _ message: String) {
        var machine = RecorderMachine(.daemon, process: 1)
        let client = ControlClientID(number: 1)
        let request = ControlRequest(.cancel)
        _ = machine.handle(.asked(request, client))
        let actions = machine.handle(.carriedOut(request, reply, client))
        guard case .reply(.answer(let told), client)? = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(told.message == message)
        #expect(actions.count == 1)
    }

    @Test func jsonHasAllMembers() {
        #expect(
            ControlStatus().line(as: .json)
                == #"{"elapsedMs":0,"isDaemon":false,"phase":"idle","text":""}"#)
    }

    @Test func waybarGetsItsOwnWordsWithPangosMarksEscaped() {
        #expect(
            recording.line(as: .waybar)
                == #"{"alt":"recording","class":"recording","percentage":50,"#
                + #""text":"● 1:03.4","tooltip":"&lt;b&gt; you &amp; me"}"#)
        #expect(
            ControlStatus().line(as: .waybar)
                == #"{"alt":"idle","class":"idle","percentage":0,"text":"","tooltip":"utter: idle"}"#
        )
    }

    @Test func whatIsWrongIsToldUntilItIsOverTheGravestFirst() {
        var machine = RecorderMachine(.daemon, process: 1)
        guard let id = TakeID("20261122-101100-00m1h4rsxjmg") else { return }
        func told(_ event: TakeEvent) -> [String]? {
            _ = machine.handle(.told(event, id))
            let actions = machine.handle(
                .shown(Dictation.State(phase: .recording, take: 1, isLatched: true)))
            guard case .show(let status)? = actions.first else { return nil }
            return status.troubles?.map(\.kind.rawValue)
        }
        _ = machine.handle(.began(1, id))
        let offline = TakeFailure.notDelivered(.cannotConnect("no"), host: "h")
        let busy = TakeFailure.unavailable(status: 429, message: "slow down")
        #expect(told(.sent) == nil)
        #expect(told(.noticed(.unprotected(reason: "full"))) == ["unkept"])
        #expect(told(.interrupted(offline, pause: .zero)) == ["unkept", "offline"])
        #expect(told(.interrupted(busy, pause: .zero)) == ["unkept", "refused"])
        #expect(told(.noticed(.protectedAgain)) == ["refused"])
        #expect(told(.connected(attempt: 2)) == nil)
        #expect(told(.refused(.refused(status: 413, message: "no"))) == ["refused"])
        #expect(told(.interrupted(offline, pause: .zero)) == ["refused", "offline"])
    }

    @Test(arguments: Dictation.Phase.allCases)
    func theLevelIsAPercentage(_ phase: Dictation.Phase) {
        for level in [-96.0, -60, -30, 0, 3] {
            var status = ControlStatus()
            (status.phase, status.level) = (phase, level)
            #expect((0...100).contains(WaybarLine(status).percentage))
            #expect(WaybarLine(status).class == phase.rawValue)
        }
    }

    @Test(arguments: [#""soon""#, "1e40", "1.5", "99999999999999999999"])
    func whatIsNoTimeIsNoRequest(_ time: String) {
        let line = #"{"version":1,"command":"keyDown","time":\#(time)}"#
        #expect(throws: ControlMistake.unreadable) { try ControlRequest(line: Array(line.utf8)) }
    }
}
