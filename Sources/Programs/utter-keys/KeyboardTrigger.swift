// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeyboardDevices
import LinuxPlatform
import Utter
import UtterCommands
internal import UtterTerminal

/// A key of the keyboards below `/dev/input`.
struct KeyboardTrigger: KeyTrigger {
    let key: KeyNumber

    init(key name: String?) throws(CommandFailure) {
        guard let name else {
            key = .rightControl
            return
        }
        guard let key = KeyNumber(named: name) else {
            throw CommandFailure(
                "--key: '\(name)' is not a key of a keyboard",
                hint: "write a name such as right-ctrl, scroll-lock, f13 or KEY_MICMUTE; "
                    + "'evtest' and 'libinput debug-events --show-keycodes' tell names",
                status: .usage)
        }
        self.key = key
    }

    var title: String { key.name }

    func watch(
        onReady: (String) -> Void, tell: (Dictation.Input, ContinuousClock.Instant) -> Void
    ) throws(CommandFailure) {
        do throws(SystemError) {
            let keyboards = try Keyboards(having: key)
            if keyboards.number == 0, let denial = keyboards.denial { throw denial }
            if keyboards.number == 0 {
                StandardError.line("no keyboard has \(title); waiting for one")
            }
            for name in keyboards.names { StandardError.line("reading \(name)") }
            onReady(title)
            while true {
                for event in try keyboards.next() { report(event, tell) }
            }
        } catch {
            throw Self.failure(error)
        }
    }

    private func report(
        _ event: Keyboards.Event, _ tell: (Dictation.Input, ContinuousClock.Instant) -> Void
    ) {
        switch event {
        case .key(.down, let instant): tell(.keyDown, instant)
        case .key(.up, let instant): tell(.keyUp, instant)
        // Not a tap, however soon: a key that is gone ends no recording.
        case .key(.lost, let instant): tell(.stop, instant)
        case .key(.dismissed, let instant): tell(.cancel, instant)
        case .found(let name): StandardError.line("reading \(name)")
        case .gone(let name): StandardError.line("\(name) is gone")
        }
    }

    private static func failure(_ error: SystemError) -> CommandFailure {
        switch error.code {
        case EACCES, EPERM:
            CommandFailure(
                "no keyboard may be read: \(error.description)",
                hint: "who has that right sees every key that is typed, passwords too; "
                    + "'utter keys --help' says how to give it, and what needs none",
                status: .configuration)
        default:
            CommandFailure(
                "there are no keyboards to be read: \(error.description)",
                hint: "use the desktop's own shortcuts: utter keys --portal, or utter setup binds",
                status: .noInput)
        }
    }
}
