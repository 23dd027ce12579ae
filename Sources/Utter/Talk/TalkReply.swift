// SPDX-License-Identifier: Apache-2.0

/// What has come of a command, for the one who gave it.
package enum TalkReply: Sendable, Equatable {
    /// The take of this number was begun, or none could be.
    case started(Int)
    /// Its recording goes on, though it was stopped a moment ago.
    case resumed(Int)
    /// Its recording ends.
    case stopped(Int)
    /// It is given up.
    case cancelled(Int)
    /// Nothing: what was asked for was so already, or there was no take for it.
    case nothing

    /// Sums up what the machine has said.
    init(_ actions: [TalkMachine.Action]) {
        for action in actions {
            switch action {
            case .start(let number): self = .started(number)
            case .stop(let number): self = .stopped(number)
            case .resume(let number): self = .resumed(number)
            case .cancel(let number): self = .cancelled(number)
            case .tell: continue
            }
            return
        }
        self = .nothing
    }
}
