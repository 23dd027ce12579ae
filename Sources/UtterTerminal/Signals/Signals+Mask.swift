// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension Signals {
    /// Blocks the watched signals and ignores SIGPIPE.
    ///
    /// Called before any thread is started.
    package static func block() {
        _ = inherited
        change(SIG_BLOCK, watched)
        _ = signal(SIGPIPE, SIG_IGN)
        // A file that may not grow is an error of write(2) like a full disk, not an end.
        _ = signal(SIGXFSZ, SIG_IGN)
        // A shell without job control starts what it puts into the background with SIGINT
        // ignored; a program that sends it anyway means it. SIGHUP stays as nohup(1) left it.
        for number in [SIGINT, SIGTERM, SIGUSR1, SIGUSR2] { _ = signal(number, SIG_DFL) }
    }

    /// Undoes `block` on this thread, before `exec`, or for a wait in which nothing can be lost.
    package static func unblock() {
        var mask = inherited
        _ = unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
        _ = signal(SIGPIPE, SIG_DFL)
        _ = signal(SIGXFSZ, SIG_DFL)
    }

    /// Blocks the terminal's signals to stop or end, too: the terminal is put right first.
    ///
    /// Only for commands that read keys.
    static func blockJobControl() { change(SIG_BLOCK, jobControl) }

    /// SIGHUP unless nohup(1) had it ignored.
    static let watched = [SIGINT, SIGTERM, SIGUSR1, SIGUSR2] + (isIgnored(SIGHUP) ? [] : [SIGHUP])

    /// They act as usual, after the terminal was put right.
    static let jobControl = [SIGTSTP, SIGQUIT].filter { !isIgnored($0) } + [SIGCONT]

    private static let inherited: sigset_t = {
        var mask = sigset_t()
        _ = unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
        return mask
    }()

    private static func change(_ how: Int32, _ signals: [Int32]) {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        for number in signals { _ = unsafe sigaddset(&mask, number) }
        _ = unsafe pthread_sigmask(how, &mask, nil)
    }

    /// Inherited; left as it is.
    ///
    /// Blocked signals reach a signalfd even when they are ignored.
    private static func isIgnored(_ number: Int32) -> Bool {
        let before = signal(number, SIG_IGN)
        let isIgnored =
            unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        if !isIgnored { _ = signal(number, SIG_DFL) }
        return isIgnored
    }
}
