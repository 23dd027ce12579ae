// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import Synchronization
import Utter
import UtterCommands
import UtterControl
internal import UtterTerminal

final class KeySession: Sendable {
    private let trigger: any KeyTrigger
    private let talk: KeyTalk
    private let end = Settlement<Result<ExitStatus, CommandFailure>>()
    private let isEnding = Atomic(false)

    init(
        trigger: any KeyTrigger, texts: TextOutput, form: OutputForm, preset: String?
    ) throws(CommandFailure) {
        self.trigger = trigger
        talk = try KeyTalk(texts: texts, form: form, key: trigger.title, preset: preset)
    }

    /// Watches the key until a signal ends it, or it cannot be watched any more.
    ///
    /// A recording that runs then is sent, and its text awaited.
    func run() async throws(CommandFailure) -> ExitStatus {
        do throws(SystemError) {
            let signals = try Signals(readingPipe: false)
            signals.handle { [self] in obey($0) }
            _ = try NamedThread(name: "keys") { [self] in watch() }
        } catch {
            throw CommandFailure(
                "the key cannot be watched: \(error.description)", status: .localIO)
        }
        let ended = await end.value
        await talk.end()
        return try ended.get()
    }

    private func watch() {
        do throws(CommandFailure) {
            try trigger.watch { name in
                StandardError.line("hold \(name) and speak, or tap it to begin and to end")
                ServiceManager.tell("READY=1")
            } tell: { [self] event, instant in
                talk.handle(event, at: instant)
            }
        } catch {
            end.settle(.failure(error))
        }
    }

    /// Obeys a signal, on the thread of the signals.
    private func obey(_ request: Request) {
        switch request {
        case .toggle: talk.handle(.toggle)
        case .dismiss: talk.handle(.cancel)
        case .line, .key: break
        case .cancel: leave(.cancelled)
        case .leave(let signal): leave(signal == SIGHUP ? .hungUp : .terminated)
        // The recorder keeps what is not printed here.
        case .leaveNow: exit(ExitStatus.terminated.rawValue)
        }
    }

    private func leave(_ status: ExitStatus) {
        if isEnding.exchange(true, ordering: .relaxed) { exit(status.rawValue) }
        end.settle(.success(status))
    }
}

protocol KeyTrigger: Sendable {
    /// The key, in a sentence.
    var title: String { get }

    /// Says the name of the key, and watches it; blocks until it is gone.
    func watch(
        onReady: (String) -> Void, tell: (Dictation.Input, ContinuousClock.Instant) -> Void
    ) throws(CommandFailure)
}
