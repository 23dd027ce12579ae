// SPDX-License-Identifier: Apache-2.0

internal import CPocketSphinx
internal import LinuxPlatform
internal import Synchronization

/// A thread that works at one body after another, each with a decoder of its own.
///
/// A decoder remembers the sound of what it has heard, so the next text would depend on the
/// last speaker. The decoder for the next body is loaded as soon as the last one has its answer.
final class RecogniserThread: Sendable {
    private struct State {
        var job: RecognitionJob?
        /// There will be no more work: the thread was told to stop, or has no decoder.
        var isEnding = false
    }

    private let state = Mutex(State())
    private let thread = Mutex<NamedThread?>(nil)
    private let wakeup: Wakeup

    /// Starts a thread and loads its model.
    ///
    /// The thread calls `onIdle` after every job, before the job's last event: it says whether the
    /// thread loads another decoder, or ends. `onEnd` is called when the thread ends otherwise, or
    /// could not be started. The thread that is returned is idle, with its model loaded.
    static func start(
        number: Int, model: PreparedModel,
        onIdle: @escaping @Sendable (RecogniserThread) -> Bool,
        onEnd: @escaping @Sendable (RecogniserThread?) -> Void
    ) async throws(RecognitionEndpointError) -> RecogniserThread {
        let thread: RecogniserThread
        do {
            thread = RecogniserThread(wakeup: try Wakeup())
        } catch {
            onEnd(nil)
            throw .noThread(reason: error.description)
        }
        let failure = await withCheckedContinuation { continuation in
            do throws(SystemError) {
                try thread.keep(
                    NamedThread(name: "recognise-\(number)") {
                        let isLast = thread.run(
                            model, onReady: { continuation.resume(returning: $0) },
                            onIdle: onIdle)
                        if isLast { onEnd(thread) }
                    })
            } catch {
                onEnd(nil)
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
    /// - Returns: false when the thread is ending.
    func work(at job: RecognitionJob) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isEnding else { return false }
            state.job = job
            return true
        }
        wakeup.signal()
        return isTaken
    }

    /// Ends the thread when it has done its work; called from any thread.
    func stop() {
        state.withLock { $0.isEnding = true }
        wakeup.signal()
    }

    /// Waits until the thread has ended; blocks for a moment only once it has no more work.
    func join() {
        thread.withLock { $0.take() }?.join()
    }

    private func keep(_ started: consuming NamedThread) {
        var started: NamedThread? = started
        thread.withLock { swap(&$0, &started) }
    }

    private enum Next {
        case another
        /// Ends, because the pool has enough idle threads.
        case dismissed
        case stopped
    }

    /// Works until there is nothing more to do; returns whether the pool still counts on this thread.
    ///
    /// Calls `onReady` once, with nil or with why there is no decoder.
    private func run(
        _ model: PreparedModel, onReady: (RecognitionEndpointError?) -> Void,
        onIdle: (RecogniserThread) -> Bool
    ) -> Bool {
        var isReady = false
        while true {
            let next: Next
            do {
                next = try workOnce(model, onIdle: onIdle) {
                    if !isReady { onReady(nil) }
                    isReady = true
                }
            } catch {
                if isReady { refuseWork() } else { onReady(error) }
                return true
            }
            // The C library would keep what the decoder and the body took for later.
            utter_give_memory_back()
            switch next {
            case .another: continue
            case .dismissed: return false
            case .stopped: return true
            }
        }
    }

    private func workOnce(
        _ model: PreparedModel, onIdle: (RecogniserThread) -> Bool, onLoaded: () -> Void
    ) throws(RecognitionEndpointError) -> Next {
        var recogniser = try SpeechRecogniser(model)
        onLoaded()
        guard let job = nextJob() else { return .stopped }
        let ending = job.run(&recogniser)
        let next: Next = onIdle(self) ? .another : .dismissed
        job.events.post(ending)
        return next
    }

    /// Waits for work; blocks, called on the thread.
    ///
    /// - Returns: nil when the thread is to end.
    private func nextJob() -> RecognitionJob? {
        while true {
            let (job, isEnding) = state.withLock { ($0.job.take(), $0.isEnding) }
            if let job { return job }
            if isEnding { return nil }
            wakeup.wait()
        }
    }

    /// Takes no more work, and fails what was handed over while the decoder was being loaded.
    private func refuseWork() {
        let job = state.withLock { state in
            state.isEnding = true
            return state.job.take()
        }
        job?.body.close()
        job?.events.post(.failed(.recogniserFailed))
    }
}
