// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The program that a source waits for while it opens; any thread may give it up.
final class AwaitedProgram: Sendable {
    private let state = Mutex<(group: pid_t?, isGivenUp: Bool)>((nil, false))

    /// Names the process group of the next program, which has not been waited for; nil when there is
    /// none any more.
    func set(_ group: pid_t?) {
        state.withLock { state in
            state.group = group
            if state.isGivenUp, let group { _ = kill(-group, SIGKILL) }
        }
    }

    /// Kills the program that is awaited, or the next one.
    func giveUp() {
        state.withLock { state in
            state.isGivenUp = true
            if let group = state.group { _ = kill(-group, SIGKILL) }
        }
    }
}
