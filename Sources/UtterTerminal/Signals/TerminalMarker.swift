// SPDX-License-Identifier: Apache-2.0

internal import CTerminal
internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform

/// Written while our modes are on a terminal, so that the next `utter` there can put it right if
/// this one is killed.
///
/// One small file for each terminal, among the session's runtime files.
struct TerminalMarker: Codable {
    var process: Int32
    /// The start of the process, in ticks since boot: process numbers are reused.
    var startTime: UInt64
    /// When the terminal was made: its name is reused, too.
    var terminalTime: [Int]
    var modes: TerminalModes

    /// - Returns: the path of the file, to be removed when the terminal is put right; nil for none.
    static func write(_ modes: TerminalModes, for terminal: TerminalDevice) -> String? {
        let marker = TerminalMarker(
            process: getpid(), startTime: ProcessBeginning.ticks(of: getpid()) ?? 0,
            terminalTime: terminal.madeAt, modes: modes)
        // Without a marker a killed process leaves a terminal that no later one can put right, which
        // is no reason not to listen.
        guard let folder = try? Self.folder(),
            // Numbers and words can be encoded, always.
            let bytes = try? JSONEncoder().encode(marker),
            // A full disk is no reason, either.
            (try? folder.replaceFile(terminal.name, with: Array(bytes), isDurable: false)) != nil
        else { return nil }
        return folder.path + "/" + terminal.name
    }

    static func left(on terminal: TerminalDevice) -> TerminalMarker? {
        // A file that is missing, or is not ours, tells nothing.
        guard let bytes = try? folder()?.contents(of: terminal.name, limit: 4_096),
            // A file in another form tells nothing, either.
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
    /// Seconds and nanoseconds; empty when not known.
    let madeAt: [Int]

    /// The descriptor may be that of `/dev/tty`; nil when it is not a terminal.
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

    var name: String { "terminal-\(number)" }
}
