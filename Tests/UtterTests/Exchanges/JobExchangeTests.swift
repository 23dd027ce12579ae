// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// Requests of a job whose answers are lost.
@Suite struct JobExchangeTests {
    private static let plan = JobPlan(steps: [
        JobStep(name: "upload", content: .recording),
        JobStep(name: "create", url: "/create"),
        JobStep(name: "poll", url: "/poll", method: .get, pendingStatuses: [404]),
    ])
    private static let lost = Reply(result: .test(.connectionLost("closed")))

    private func exchange(
        _ plan: JobPlan = plan, from progress: ExchangeProgress? = nil, takenBefore: Int = 0
    ) throws -> JobExchange {
        let service = try RecognitionService(url: ServiceURL("http://127.0.0.1:9/upload"))
        return JobExchange(
            plan, DeliveryPlan(service: service, format: .wav), from: progress,
            takenBefore: takenBefore)
    }

    private func good(_ verdict: StepVerdict) -> Reply {
        Reply(result: .test(.answered, status: 200), verdict: verdict)
    }

    private func follow(_ exchange: inout JobExchange, _ replies: Reply...) {
        for reply in replies {
            _ = exchange.next(after: reply, isSpeaking: false, at: Moment())
        }
    }

    @Test func aJobThatGoesWellIsDoneOnce() throws {
        var exchange = try exchange()
        follow(&exchange, good(.next([:])), good(.next([:])), good(.again(nil)))
        #expect(exchange.takenCount == 1)
        // A question may be asked twice.
        follow(&exchange, Self.lost, good(.answer))
        #expect(exchange.takenCount == 1)
    }

    @Test func aLostAnswerToADeedThatIsRepeatedMarksTheTake() throws {
        var exchange = try exchange()
        follow(&exchange, good(.next([:])), Self.lost)
        #expect(exchange.takenCount == 1)
        #expect(exchange.progress?.unknown == 1)
        follow(&exchange, good(.next([:])), good(.answer))
        #expect(exchange.takenCount == 2)
    }

    @Test func anAnswerThatCannotBeUsedIsTheEndOfItsJob() throws {
        var exchange = try exchange()
        follow(&exchange, good(.next([:])), good(.next([:])))
        #expect(exchange.progress != nil)
        var empty = good(.answer)
        empty.failure = .missingText(path: "text", excerpt: "")
        let step = exchange.next(after: empty, isSpeaking: false, at: Moment())
        #expect(step == .failed(.answerUnusable(.missingText(path: "text", excerpt: ""))))
        // A retry begins with the recording.
        #expect(exchange.progress == nil)
    }

    @Test func aStateThatIsNotKnownIsToldOnceAfterSomePolls() throws {
        var exchange = try exchange()
        follow(&exchange, good(.next([:])), good(.next([:])))
        var told: [Int] = []
        for number in 1...12 {
            // What is known between them is not counted.
            let state = number == 2 ? nil : "paused"
            let step = exchange.next(after: good(.again(state)), isSpeaking: false, at: Moment())
            guard case .request(let pause) = step, let notice = pause.notice else { continue }
            told.append(number)
            #expect(notice.contains("'paused'"))
        }
        #expect(told == [6])
    }

    @Test func answersThatSayNothingOfTheJobAreNotAskedForWithoutEnd() throws {
        var exchange = try exchange()
        follow(&exchange, good(.next([:])), good(.next([:])))
        let page = AnswerError.webPage(title: "Log in")
        var odd = good(.again(nil))
        odd.failure = page
        for _ in 0..<8 { follow(&exchange, odd) }
        follow(&exchange, good(.again(nil)))
        for _ in 0..<8 { follow(&exchange, odd) }
        let step = exchange.next(after: odd, isSpeaking: false, at: Moment())
        let failure = TakeFailure.notDelivered(.unproved("\(page)"), host: "http://127.0.0.1:9")
        #expect(step == .failed(failure))
        #expect(!failure.isForGood)
        // The job may be well: the next run asks for it.
        #expect(exchange.progress?.step == "poll")
    }

    @Test func aJobThatTakesTooLongIsToldWithItsTrueTime() throws {
        var exchange = try exchange()
        follow(&exchange, good(.next([:])), good(.next([:])), good(.again(nil)))
        var asked = good(.again(nil))
        asked.result.retryAfter = .seconds(30)
        let late = Moment(elapsed: .seconds(1_790))
        let step = exchange.next(after: asked, isSpeaking: false, at: late)
        #expect(step == .failed(.unfinished(after: .seconds(1_790))))
    }

    @Test func theRecordingIsNotPointedToWhereAQuestionIsLedTo() throws {
        var exchange = try exchange()
        follow(&exchange, good(.next([:])), good(.next([:])))
        var led = Reply(result: .test(.answered, status: 302))
        led.result.headers = [(name: "location", value: "http://127.0.0.1:8/poll")]
        let step = exchange.next(after: led, isSpeaking: false, at: Moment())
        #expect(
            step
                == .failed(
                    .refused(status: 302, message: "poll is led to http://127.0.0.1:8/poll")))
    }

    @Test(
        arguments: [
            ("queued", nil), ("In Progress", nil), ("IN_PROGRESS", nil), ("paused", "paused"),
            ("on hold\u{1B}[1m", "on hold"), ("", nil),
        ] as [(String, String?)])
    func aStateOfAJobIsUsualOrNot(_ state: String, _ said: String?) {
        var step = JobStep(name: "poll")
        step.until = ValueCondition(.path(JSONPath(dotted: "status")), .equals(.string("done")))
        let answer = { (state: String) in
            StepAnswer(headers: [], body: Array("{\"status\":\(state)}".utf8))
        }
        #expect(step.verdict(on: answer(JSONText.quoted(state)), isLast: true) == .again(said))
        for other in ["null", "1", "false"] {
            #expect(step.verdict(on: answer(other), isLast: true) == .again(nil))
        }
    }

    @Test func aRefusalLeavesNothingUnknown() throws {
        var exchange = try exchange()
        let busy = Reply(result: .test(.answered, status: 503))
        follow(&exchange, good(.next([:])), busy, good(.next([:])))
        #expect(exchange.takenCount == 1)
    }

    @Test func anotherRunThatRepeatsADeedMarksTheTake() throws {
        var first = try exchange()
        follow(&first, good(.next([:])))
        first.record(Self.lost.result)
        var second = try exchange(from: first.progress, takenBefore: first.takenCount)
        #expect(second.takenCount == 1)
        follow(&second, good(.next([:])))
        #expect(second.takenCount == 2)
        #expect(second.progress?.unknown == nil)
    }

    @Test func aDeedBeforeTheRecordingIsRememberedWhenItsAnswerIsLost() throws {
        let plan = JobPlan(steps: [
            JobStep(name: "create", url: "/create"),
            JobStep(name: "upload", content: .recording),
        ])
        var first = try exchange(plan)
        #expect(first.progress == nil)
        first.record(Self.lost.result)
        var second = try exchange(plan, from: first.progress)
        follow(&second, good(.next([:])), good(.answer))
        #expect(second.takenCount == 2)
        var well = try exchange(plan)
        follow(&well, good(.next([:])), good(.answer))
        #expect(well.takenCount == 1)
    }
}
