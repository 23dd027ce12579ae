// SPDX-License-Identifier: Apache-2.0

internal import CTerminal
internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform

/// What is written down while a terminal is in modes of ours, so that the next `utter` there can put
/// it right when this one was killed.
///
/// One small file for each terminal, in the folder of the session's runtime files.
struct TerminalMarker: Codable, Equatable {
    var process: Int32
    /// When that began, in ticks since the system did: numbers of processes are used again.
    var startTime: UInt64
    /// When the terminal was made: so are names of terminals.
    var terminalTime: [Int]
    var modes: TerminalModes

    /// Describes a terminal that this process changes now.
    init(terminal: TerminalDevice, modes: TerminalModes) {
        process = getpid()
        startTime = ProcessBeginning.ticks(of: getpid()) ?? 0
        terminalTime = terminal.madeAt
        self.modes = modes
    }

    /// Writes it down, where there is a folder for that.
    ///
    /// - Returns: the path of the file, which is removed when the terminal is put right; nil for none.
    func write(for terminal: TerminalDevice) -> String? {
        // Without a marker a killed process leaves a terminal that no later one can put right, which
        // is no reason not to listen.
        guard let folder = try? Self.folder(),
            // Numbers and words can be encoded, always.
            let bytes = try? JSONEncoder().encode(self),
            // As above.
            (try? folder.replaceFile(terminal.name, with: Array(bytes), isDurable: false)) != nil
        else { return nil }
        return folder.path + "/" + terminal.name
    }

    /// What the last program left on this terminal that did not put it right, and has ended.
    static func left(on terminal: TerminalDevice) -> TerminalMarker? {
        // A file that is missing, or is none of ours, tells nothing.
        guard let bytes = try? folder()?.contents(of: terminal.name, limit: 4_096),
            // As above.
            let marker = try? JSONDecoder().decode(TerminalMarker.self, from: Data(bytes)),
            marker.terminalTime == terminal.madeAt,
            ProcessBeginning.ticks(of: marker.process) != marker.startTime
        else { return nil }
        return marker
    }

    private static func folder() throws(SystemError) -> Folder? {
        guard let session = Environment["XDG_RUNTIME_DIR"], session.hasPrefix("/") else {
            return nil
        }
        let path = session + "/utter"
        return Folder.danger(at: path) == nil ? try Folder.make(at: path) : nil
    }
}

struct TerminalDevice {
    private let number: UInt32
    /// When it was made, in seconds and nanoseconds; nothing when that is not known.
    let madeAt: [Int]

    /// The terminal behind a descriptor, which may be that of `/dev/tty`; nil when it is none.
    init?(of descriptor: Int32) {
        number = utter_terminal_device(descriptor)
        guard number != 0 else { return nil }
        let minor = (number & 0xFF) | (number >> 12 & 0xFFF00)
        let folder = number >> 8 & 0xFFF == 136 ? "/dev/pts/" : "/dev/tty"
        var status = stat()
        let isKnown = unsafe stat("\(folder)\(minor)", &status) == 0
        madeAt =
            isKnown && status.st_rdev == UInt(number)
            ? [status.st_ctim.tv_sec, status.st_ctim.tv_nsec] : []
    }

    /// The file that tells of it.
    var name: String { "terminal-\(number)" }
}
