// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Reads signals like bytes (`signalfd(2)`).
///
/// The signals must be blocked in every thread, or their default action is taken instead.
package final class SignalDescriptor: Sendable {
    private let descriptor: OwnedDescriptor

    package init(signals: [Int32]) throws(SystemError) {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        for number in signals { _ = unsafe sigaddset(&mask, number) }
        let number = try retryingInterrupts("signalfd") { unsafe utter_signalfd(&mask) }
        descriptor = OwnedDescriptor(taking: number)
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

/// Nil for a descriptor that is not a terminal.
package func terminalColumns(_ descriptor: Int32) -> Int? {
    let columns = Int(utter_terminal_columns(descriptor))
    return columns > 0 ? columns : nil
}

/// Nil for a descriptor that is not a terminal.
package func terminalRows(_ descriptor: Int32) -> Int? {
    let rows = Int(utter_terminal_rows(descriptor))
    return rows > 0 ? rows : nil
}
