// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A `termios(3)` that can be written down.
struct TerminalModes: Codable {
    var input: UInt32
    var output: UInt32
    var control: UInt32
    var local: UInt32
    var line: UInt8
    var characters: [UInt8]
    var inputSpeed: UInt32
    var outputSpeed: UInt32

    /// Reads the modes; nil when the terminal is gone.
    init?(of descriptor: Int32) {
        var modes = termios()
        guard unsafe tcgetattr(descriptor, &modes) == 0 else { return nil }
        (input, output, control, local) = (
            modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag
        )
        line = modes.c_line
        characters = unsafe withUnsafeBytes(of: &modes.c_cc) { unsafe Array($0) }
        (inputSpeed, outputSpeed) = (modes.c_ispeed, modes.c_ospeed)
    }

    var settings: termios {
        var modes = termios()
        (modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag) = (
            input, output, control, local
        )
        modes.c_line = line
        unsafe withUnsafeMutableBytes(of: &modes.c_cc) { buffer in
            unsafe buffer.copyBytes(from: characters.prefix(buffer.count))
        }
        (modes.c_ispeed, modes.c_ospeed) = (inputSpeed, outputSpeed)
        return modes
    }

    var areForKeys: Bool { local & UInt32(ICANON | ECHO) == 0 }

    var signalKeys: SignalKeys {
        SignalKeys(
            interrupt: characters[Int(VINTR)], quit: characters[Int(VQUIT)],
            suspend: characters[Int(VSUSP)])
    }

    /// These modes, with keys that reach the program at once and do not appear on the screen.
    ///
    /// Output stays as it is. Ctrl-C and its like are ordinary keys, told from the bytes of a paste
    /// (`SignalKeys`). So is Ctrl-S: it would hold back the screen, and with it the program.
    var forKeys: TerminalModes {
        var modes = self
        modes.input &= ~UInt32(IXON)
        modes.local &= ~UInt32(ICANON | ECHO | ECHONL | ISIG)
        (modes.characters[Int(VMIN)], modes.characters[Int(VTIME)]) = (1, 0)
        return modes
    }

    /// At once; the calling thread has SIGTTOU blocked.
    func apply(to descriptor: Int32) {
        var settings = settings
        _ = unsafe tcsetattr(descriptor, TCSANOW, &settings)
    }
}
