// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// When a process was begun, in an order with the others of this machine.
///
/// A desktop begins one for each press and one for each release of a key, and the one that was begun
/// first may be the last to get anywhere.
package struct ProcessBeginning: Codable, Comparable, Sendable {
    /// In clock ticks since boot; `exec` does not change it.
    var ticks: UInt64
    /// Tells processes of the same tick apart.
    var process: Int32

    package static func < (one: ProcessBeginning, other: ProcessBeginning) -> Bool {
        (one.ticks, one.process) < (other.ticks, other.process)
    }

    package static var own: ProcessBeginning? {
        ticks(of: getpid()).map { ProcessBeginning(ticks: $0, process: getpid()) }
    }

    /// False for a time of another machine, or from before a restart.
    package var isPast: Bool { age >= .seconds(-1) }

    /// How long ago it was begun.
    package var age: Duration {
        var now = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &now)
        let perSecond = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        return .seconds(Double(now.tv_sec) + Double(now.tv_nsec) / 1e9 - Double(ticks) / perSecond)
    }

    package static func ticks(of process: Int32) -> UInt64? {
        // The name stands between brackets, and may hold anything; the time is field 22.
        guard let text = processFile("/proc/\(process)/stat") else { return nil }
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[end...].split(separator: " ")
        return fields.count > 20 ? UInt64(fields[20]) : nil
    }
}

/// The login session of a process, as the kernel and logind know it.
package enum LoginSession {
    /// Whether a process is of the program that this one is, and logged in here, not over a network.
    ///
    /// A forwarded connection is one of ssh. Without logind no session but the own one is known.
    package static func isOwn(_ process: Int32) -> Bool {
        let names = [process, getpid()].map { processFile("/proc/\($0)/comm") }
        let sessions = [process, getpid()].compactMap { processFile("/proc/\($0)/sessionid") }
        guard names[0] != nil, names[0] == names[1], sessions.count == 2 else { return false }
        return sessions[0] == sessions[1]
            || processFile("/run/systemd/sessions/\(sessions[0])")?.contains("\nREMOTE=0\n") == true
    }
}

private func processFile(_ path: String) -> String? {
    // A process that has ended has nothing to read.
    (try? readFile(path, limit: 4_096)).map { String(decoding: $0, as: UTF8.self) }
}
