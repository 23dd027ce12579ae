// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Reads signals like bytes (`signalfd(2)`).
///
/// The signals must be blocked in every thread, or their default action is taken instead.
package final class SignalDescriptor: Sendable {
    private let descriptor: OwnedDescriptor

    package init(signals: [Int32]) throws(SystemError) {
        var mask = signalSet(signals)
        descriptor = try OwnedDescriptor(of: "signalfd") { unsafe utter_signalfd(&mask) }
    }

    package var number: Int32 { descriptor.number }

    /// Never blocks.
    package func next() -> Int32? {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        // EAGAIN means that there is none.
        guard unsafe read(descriptor.number, &information, size) == size else { return nil }
        return Int32(information.ssi_signo)
    }
}

/// Columns of a terminal; nil for any other descriptor.
package func terminalColumns(_ descriptor: Int32) -> Int? {
    let columns = Int(utter_terminal_columns(descriptor))
    return columns > 0 ? columns : nil
}

/// Rows of a terminal; nil for any other descriptor.
package func terminalRows(_ descriptor: Int32) -> Int? {
    let rows = Int(utter_terminal_rows(descriptor))
    return rows > 0 ? rows : nil
}

func signalSet(_ numbers: [Int32]) -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in numbers { unsafe sigaddset(&set, number) }
    return set
}

/// The signals that a thread blocks.
package struct SignalMask: Sendable {
    private var set: sigset_t

    /// Blocks signals for this thread, or lets them through: `how` is one of `sigprocmask(2)`.
    ///
    /// - Returns: what was blocked before.
    @discardableResult
    package static func change(_ how: Int32, _ numbers: [Int32]) -> SignalMask {
        var (set, before) = (signalSet(numbers), sigset_t())
        unsafe pthread_sigmask(how, &set, &before)
        return SignalMask(set: before)
    }

    /// Blocks these for this thread, and no others.
    package func restore() {
        var set = set
        unsafe pthread_sigmask(SIG_SETMASK, &set, nil)
    }
}
