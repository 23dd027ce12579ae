// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
package import LinuxPlatform

/// A terminal without a screen, for programs that look whether they talk to one.
///
/// The test holds the master side; a child started with it has the other as its controlling
/// terminal, so that typed control characters become signals.
package final class PseudoTerminal: Sendable {
    /// The width in characters at the beginning.
    package let columns: UInt16

    let master: OwnedDescriptor
    let childPath: String

    /// Held open, so that what a child wrote is not lost when it ends.
    private let childSide: OwnedDescriptor

    /// Opens a terminal.
    package init(columns: UInt16 = 80, rows: UInt16 = 24) throws(SystemError) {
        let flags = O_RDWR | O_NOCTTY | O_CLOEXEC
        let number = try retryingInterrupts("open /dev/ptmx") { open("/dev/ptmx", flags) }
        let master = OwnedDescriptor(taking: number)
        var unlocked: Int32 = 0
        var terminal: UInt32 = 0
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try retryingInterrupts("ioctl TIOCSPTLCK") { ioctl(number, Self.setLock, &unlocked) }
        try retryingInterrupts("ioctl TIOCGPTN") { ioctl(number, Self.getNumber, &terminal) }
        try retryingInterrupts("ioctl TIOCSWINSZ") { ioctl(number, UInt(TIOCSWINSZ), &size) }
        let path = "/dev/pts/\(terminal)"
        let other = try retryingInterrupts("open \(path)") { open(path, flags) }
        childSide = OwnedDescriptor(taking: other)
        self.master = master
        self.columns = columns
        childPath = path
    }

    /// Makes the terminal narrower or wider, as dragging the window's edge does.
    package func resize(columns: UInt16, rows: UInt16 = 24) throws(SystemError) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try retryingInterrupts("ioctl TIOCSWINSZ") {
            ioctl(master.number, UInt(TIOCSWINSZ), &size)
        }
    }

    /// Types characters, as a keyboard would; "\u{3}" is Ctrl-C and "\n" is Enter.
    package func type(_ text: String) throws(SystemError) {
        let bytes = Array(text.utf8)
        try retryingInterrupts("write") { write(master.number, bytes, bytes.count) }
    }

    package var isEchoing: Bool {
        var settings = termios()
        return tcgetattr(master.number, &settings) == 0 && settings.c_lflag & UInt32(ECHO) != 0
    }

    /// How the terminal treats what is typed and shown: the flags of its `termios(3)`, and the
    /// characters.
    package var modes: [UInt32] {
        var settings = termios()
        guard tcgetattr(master.number, &settings) == 0 else { return [] }
        let characters = withUnsafeBytes(of: &settings.c_cc) { $0.map { UInt32($0) } }
        return [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag] + characters
    }

    /// Closes the terminal; takes effect when no thread waits for its output any more.
    func hangUp() {
        // Never readable: in place of the terminal, nothing is to be read any more.
        let nothing = requireWakeup()
        _ = utter_replace(master.number, nothing.descriptor)
    }

    /// Requests of ioctl_tty(2) whose macros are not importable: _IOW('T', 0x31, int) and
    /// _IOR('T', 0x30, unsigned int).
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430
}
