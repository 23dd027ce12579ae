// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// A thread that has one program, and gives it one recording after another.
///
/// A program that breaks down is replaced, and the recording that it had is given once to the next one
/// from its first byte: one that kills two is at fault itself.
final class RecogniserThread: Sendable {
    private struct State {
        var job: RecognitionJob?
        /// The one that the program has.
        var current: RecognitionJob?
        /// There will be no more work: the thread was told to stop, or has no program.
        var isEnding = false
    }

    private let state = Mutex(State())
    private let thread = Mutex<NamedThread?>(nil)
    private let wakeup: Wakeup
    private let recogniser: Recogniser
    private unowned let pool: RecogniserPool

    init(_ recogniser: Recogniser, for pool: RecogniserPool) throws(SystemError) {
        (self.recogniser, self.pool) = (recogniser, pool)
        wakeup = try Wakeup()
    }

    /// Begins; `onReady` is called once, with nil or with why there is no program.
    func start(
        number: Int, onReady: @escaping @Sendable (RecogniserFault?) -> Void
    ) throws(SystemError) {
        // The running thread keeps the pool alive.
        let started = try NamedThread(name: "recognise-\(number)") { [self, pool] in
            pool.forget(self, run(onReady))
        }
        thread.withLock { $0 = started }
    }

    /// Hands work over, from any thread, to one that is idle; false when it is ending.
    func work(at job: RecognitionJob) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isEnding else { return false }
            state.job = job
            return true
        }
        wakeup.signal()
        return isTaken
    }

    /// Ends the thread, and gives up what it works at; called from any thread.
    func stop() {
        let current = state.withLock { state in
            state.isEnding = true
            return state.current
        }
        current?.fail(.shuttingDown)
        wakeup.signal()
    }

    /// Waits until the thread has ended; blocks for a moment only once it has no more work.
    func join() {
        thread.withLock { $0 }?.join()
    }

    private var isStopped: Bool { state.withLock(\.isEnding) }

    /// Works until there is nothing more to do; returns why there is no program any more, if so.
    private func run(_ onReady: (RecogniserFault?) -> Void) -> RecogniserFault? {
        var program: RecogniserProgram?
        do throws(RecogniserFault) {
            program = try startProgram()
        } catch {
            onReady(error)
            return error
        }
        var job = pool.free(self)
        // A job that comes from now on finds it idle.
        onReady(nil)
        while let ready = program, let current = job ?? nextJob(ready) {
            let ending = work(at: current, &program)
            job = pool.free(self)
            current.end(ending)
            do throws(RecogniserFault) {
                try makeReady(&program, after: ending)
            } catch {
                refuse(job, error)
                return error
            }
        }
        // Given while the thread was told to stop.
        refuse(job, nil)
        program?.close()
        return nil
    }

    private func startProgram() throws(RecogniserFault) -> RecogniserProgram? {
        let program = try RecogniserProgram(recogniser)
        let isReady = try program.waitUntilReady(isNew: true, wokenBy: wakeup) { !isStopped }
        if let name = program.ready.name { pool.name = TerminalText.excerpt(of: name.utf8) }
        return isReady ? program : nil
    }

    /// Does a job, and gives it to another program if this one breaks down.
    private func work(
        at job: RecognitionJob, _ program: inout RecogniserProgram?
    ) -> RecognitionEvents.Event {
        state.withLock { $0.current = job }
        defer { state.withLock { $0.current = nil } }
        if isStopped { return .failed(.shuttingDown) }
        var reason = ""
        for _ in 0..<2 {
            do {
                if program == nil { program = try startProgram() }
                guard let program else { return .failed(.shuttingDown) }
                return .final(try job.run(program))
            } catch let fault as RecogniserFault {
                program = nil
                reason = fault.reason
            } catch {
                program?.cancel()
                return .failed(error as? BodyFailure ?? BodyFailure(error))
            }
        }
        return .failed(.recogniserFailed(reason: reason))
    }

    /// Has the program ready for the next recording, or another one: where nothing is wanted of the last
    /// one any more, the sooner of the two.
    private func makeReady(
        _ program: inout RecogniserProgram?, after ending: RecognitionEvents.Event
    ) throws(RecogniserFault) {
        let isGivenUp =
            switch ending {
            case .failed(.brokenOff), .failed(.superseded): true
            default: false
            }
        do throws(RecogniserFault) {
            if try program?.waitUntilReady(
                isGivenUp: isGivenUp, wokenBy: wakeup, while: { !isStopped }) == true
            {
                return
            }
        } catch {
            // It is replaced.
        }
        program = nil
        if !isStopped { program = try startProgram() }
    }

    /// Waits for work; blocks, and is nil when the thread is to end.
    private func nextJob(_ program: RecogniserProgram) -> RecognitionJob? {
        var limit = Optional(ContinuousClock.now + pool.idleTime)
        while true {
            let (job, isEnding) = state.withLock { ($0.job.take(), $0.isEnding) }
            if let job { return job }
            if isEnding { return nil }
            switch program.idle(wokenBy: wakeup, until: limit) {
            case .woken: continue
            case .late:
                // The last one that is idle stays, and is not woken again for that.
                limit = nil
                if pool.dismiss(self) { return nil }
            case .broken:
                // The next recording finds another one.
                guard pool.retire(self) else { continue }
                return nil
            }
        }
    }

    /// Takes no more work, and fails what was handed over while there was no program.
    private func refuse(_ taken: RecognitionJob?, _ fault: RecogniserFault?) {
        _ = pool.retire(self)
        let given = state.withLock { state in
            state.isEnding = true
            return state.job.take()
        }
        let failure = fault.map { BodyFailure.recogniserFailed(reason: $0.reason) }
        for job in [taken, given] { job?.end(.failed(failure ?? .shuttingDown)) }
    }
}
