// SPDX-License-Identifier: Apache-2.0

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
    package var isPast: Bool {
        var now = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &now)
        let perSecond = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
        return ticks <= UInt64(now.tv_sec + 1) * perSecond
    }

    package static func ticks(of process: Int32) -> UInt64? {
        // A process that has ended has nothing to read.
        guard let bytes = try? readFile("/proc/\(process)/stat", limit: 4_096) else { return nil }
        // The name stands between brackets, and may hold anything; the time is field 22.
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[end...].split(separator: " ")
        return fields.count > 20 ? UInt64(fields[20]) : nil
    }
}
