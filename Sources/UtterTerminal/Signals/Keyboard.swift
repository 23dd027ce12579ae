// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where lines come from: standard input when it is a terminal or a pipe, otherwise the terminal
/// that controls this process.
///
/// A file or /dev/null on standard input is not read: it belongs to another program's loop.
struct Keyboard: Sendable {
    let descriptor: Int32

    init?() {
        if isatty(STDIN_FILENO) == 1 || Self.isPipe(STDIN_FILENO) {
            descriptor = STDIN_FILENO
        } else {
            let terminal = unsafe open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY)
            guard terminal >= 0 else { return nil }
            descriptor = terminal
        }
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// Standard input, when it is a pipe, to which a program writes; otherwise nil.
    static var pipe: Keyboard? {
        isPipe(STDIN_FILENO) ? Keyboard(descriptor: STDIN_FILENO) : nil
    }

    private static func isPipe(_ descriptor: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    /// What one read found.
    enum Found {
        case line(String)
        case nothing
        /// There will never be anything more, or what is typed is another program's.
        case closed
    }

    /// Reads what is there; called when the descriptor is ready.
    ///
    /// Called with SIGTTIN blocked: otherwise a read from the background would stop the process.
    func read() -> Found {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        if count < 0 { return errno == EINTR || errno == EAGAIN ? .nothing : .closed }
        if count == 0 { return .closed }
        guard let end = bytes[..<count].firstIndex(of: 0x0A) else {
            // A terminal gives half a line only when Ctrl-D was pressed behind it.
            return isatty(descriptor) == 1 ? .closed : .nothing
        }
        return .line(String(decoding: bytes[..<end], as: UTF8.self))
    }
}
