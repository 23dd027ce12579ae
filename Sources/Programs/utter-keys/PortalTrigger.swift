// SPDX-License-Identifier: Apache-2.0

import ShortcutPortal
import Utter
import UtterCommands
internal import UtterTerminal

/// A shortcut of which the desktop tells.
struct PortalTrigger: KeyTrigger {
    /// The key that is proposed, as the XDG shortcuts specification writes it.
    let preferred: String

    /// The name of our desktop file, by which the desktop knows who asks.
    static let application = "org.utter.Utter"

    private static let talkName = "talk"
    private static let cancelName = "cancel"

    var title: String { "the key" }

    func watch(
        onReady: (String) -> Void, tell: (Dictation.Input, ContinuousClock.Instant) -> Void
    ) throws(CommandFailure) {
        do throws(PortalError) {
            let session = try ShortcutSession(
                [
                    Shortcut(
                        id: Self.talkName, description: "Hold to talk, tap to begin and to end",
                        preferredTrigger: preferred),
                    Shortcut(
                        id: Self.cancelName, description: "Throw away what is being said"),
                ], application: Self.application)
            report(session.triggers, onReady)
            var clock = ShortcutClock()
            while true {
                switch try session.next() {
                case .activated(Self.talkName, let time):
                    tell(.keyDown, clock.pressed(at: time, now: .now))
                case .deactivated(Self.talkName, let time):
                    tell(.keyUp, clock.released(at: time, now: .now))
                case .activated(Self.cancelName, _): tell(.cancel, .now)
                case .activated, .deactivated: break
                case .changed(let triggers): report(triggers) { StandardError.line("now \($0)") }
                }
            }
        } catch {
            throw Self.failure(error)
        }
    }

    private func report(_ triggers: [String: String], _ tell: (String) -> Void) {
        if let trigger = triggers[Self.talkName], !trigger.isEmpty { return tell(trigger) }
        StandardError.line("the desktop has no key for it yet; choose one in its settings")
        StandardError.hint(
            "in Hyprland: bind = , F9, global, \(Self.application):\(Self.talkName)")
        tell("that key")
    }

    private static func failure(_ error: PortalError) -> CommandFailure {
        switch error {
        case .absent:
            CommandFailure(
                error.description,
                hint: "bind a key to commands: utter setup binds; or read the keyboards, which "
                    + "takes a right that 'utter keys --help' explains: utter keys --evdev",
                status: .configuration)
        case .declined:
            CommandFailure(
                error.description, hint: "begin again, and allow it; or use: utter setup binds",
                status: .configuration)
        case .refused, .silent:
            CommandFailure(
                error.description, hint: "bind a key to commands instead: utter setup binds",
                status: .refused)
        case .closed, .broken:
            CommandFailure(error.description, hint: "begin again", status: .notDelivered)
        }
    }
}
