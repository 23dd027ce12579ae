// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture

@Suite struct CapturePhaseTests {
    private func name(_ phase: CapturePhase) -> String {
        if case .closing(let cause) = phase { return "closing: \(cause)" }
        return "\(phase)"
    }

    private func control(
        stops: Bool = false, keepsTail: Bool = true, cancels: Bool = false
    ) -> CaptureControl {
        let control = CaptureControl()
        if stops { control.requestStop(keepsTail: keepsTail) }
        if cancels { control.requestCancel() }
        return control
    }

    @Test func withoutARequestNothingChanges() {
        let phases: [CapturePhase] = [
            .unopened, .running, .tail, .draining, .closing(.finished), .ended,
        ]
        for phase in phases {
            #expect(!phase.heeds(control()))
            #expect(name(phase.obeying(control(), hasTail: true)) == name(phase))
        }
    }

    @Test func aStopLeadsToTheTailWhereThereIsOne() {
        let stop = control(stops: true)
        #expect(CapturePhase.running.heeds(stop))
        #expect(name(CapturePhase.running.obeying(stop, hasTail: true)) == "tail")
        #expect(name(CapturePhase.running.obeying(stop, hasTail: false)) == "draining")
        // Asked for already.
        #expect(!CapturePhase.tail.heeds(stop))
        #expect(name(CapturePhase.tail.obeying(stop, hasTail: true)) == "tail")
    }

    @Test func aStopWithoutTailEndsTheTail() {
        let stop = control(stops: true, keepsTail: false)
        for phase in [CapturePhase.running, .tail] {
            #expect(phase.heeds(stop))
            #expect(name(phase.obeying(stop, hasTail: true)) == "draining")
        }
        #expect(!CapturePhase.draining.heeds(stop))
    }

    @Test func aStopThatIsTakenBackIsHeededUpToTheTailsEnd() {
        let resume = control(stops: true)
        resume.requestResume()
        for phase in [CapturePhase.running, .tail] {
            #expect(phase.heeds(resume))
            #expect(phase.canResume(resume))
        }
        for phase in [CapturePhase.unopened, .draining, .closing(.finished), .ended] {
            #expect(!phase.heeds(resume))
            #expect(!phase.canResume(resume))
        }
        #expect(name(CapturePhase.running.obeying(resume, hasTail: true)) == "running")
        #expect(resume.takeResume())
        #expect(!resume.takeResume())
        resume.requestStop()
        #expect(name(CapturePhase.running.obeying(resume, hasTail: true)) == "tail")
    }

    @Test func whatShallEndAtOnceIsNotTakenBack() {
        for ended in [control(stops: true, keepsTail: false), control(stops: true, cancels: true)] {
            ended.requestResume()
            #expect(!CapturePhase.tail.canResume(ended))
            let name = name(CapturePhase.tail.obeying(ended, hasTail: true))
            #expect(["draining", "closing: cancelled"].contains(name))
        }
    }

    @Test func aCancelEndsWhatHasNotEnded() {
        let cancel = control(stops: true, cancels: true)
        for phase in [CapturePhase.unopened, .running, .tail, .draining, .closing(.finished)] {
            #expect(phase.heeds(cancel))
            #expect(name(phase.obeying(cancel, hasTail: true)) == "closing: cancelled")
        }
        #expect(!CapturePhase.ended.heeds(cancel))
        #expect(name(CapturePhase.ended.obeying(cancel, hasTail: true)) == "ended")
    }
}
