// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// A thread with a warm decoder that works at one body after another.
final class RecogniserThread: Sendable {
    private struct State {
        var job: RecognitionJob?
        var isStopping = false
    }

    private let state = Mutex(State())
    private let thread = Mutex<NamedThread?>(nil)
    private let wakeup: Wakeup

    /// Starts a thread and loads its model.
    ///
    /// - Parameters:
    ///   - number: what comes after `recognise-` in the thread's name.
    ///   - model: what the decoder knows.
    ///   - onIdle: called on the thread after every job, and before the job's last event.
    ///   - onEnd: called when the thread ends, or could not be started.
    /// - Returns: the thread, idle, with its model loaded.
    /// - Throws: `RecognitionEndpointError` when the model cannot be used or there is no thread.
    static func start(
        number: Int, model: PreparedModel,
        onIdle: @escaping @Sendable (RecogniserThread) -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) async throws(RecognitionEndpointError) -> RecogniserThread {
        let thread: RecogniserThread
        do {
            thread = RecogniserThread(wakeup: try Wakeup())
        } catch {
            onEnd()
            throw .noThread(reason: error.description)
        }
        let failure = await withCheckedContinuation { continuation in
            do throws(SystemError) {
                try thread.keep(
                    NamedThread(name: "recognise-\(number)") {
                        thread.run(
                            model, onReady: { continuation.resume(returning: $0) },
                            onIdle: onIdle)
                        onEnd()
                    })
            } catch {
                onEnd()
                let failure = RecognitionEndpointError.noThread(reason: error.description)
                continuation.resume(returning: Optional(failure))
            }
        }
        guard let failure else { return thread }
        thread.join()
        throw failure
    }

    private init(wakeup: Wakeup) {
        self.wakeup = wakeup
    }

    /// Hands work over, from any thread; only to a thread that is idle.
    ///
    /// - Returns: false when the thread was told to stop.
    func work(at job: RecognitionJob) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isStopping else { return false }
            state.job = job
            return true
        }
        wakeup.signal()
        return isTaken
    }

    /// Ends the thread when it has done its work; called from any thread.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeup.signal()
    }

    /// Waits until the thread has ended; blocks for a moment only once `onEnd` was called.
    func join() {
        thread.withLock { $0.take() }?.join()
    }

    private func keep(_ started: consuming NamedThread) {
        var started: NamedThread? = started
        thread.withLock { swap(&$0, &started) }
    }

    private func run(
        _ model: PreparedModel, onReady: (RecognitionEndpointError?) -> Void,
        onIdle: (RecogniserThread) -> Void
    ) {
        var recogniser: SpeechRecogniser
        do {
            recogniser = try SpeechRecogniser(model)
        } catch {
            return onReady(error)
        }
        onReady(nil)
        while let job = nextJob() {
            let ending = job.run(&recogniser)
            onIdle(self)
            job.events.post(ending)
        }
    }

    /// Waits for work; blocks, called on the thread.
    ///
    /// - Returns: nil when the thread is to end.
    private func nextJob() -> RecognitionJob? {
        while true {
            let (job, isStopping) = state.withLock { ($0.job.take(), $0.isStopping) }
            if let job { return job }
            if isStopping { return nil }
            wakeup.wait()
        }
    }
}
