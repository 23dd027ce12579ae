// SPDX-License-Identifier: Apache-2.0

internal import CPocketSphinx
internal import Glibc
internal import Synchronization

/// Catches what PocketSphinx says about a failure, instead of letting it write to stderr.
///
/// The library has one log for the whole process, so this is process-wide too; lines are told
/// apart by the thread that they are said on. From any thread.
enum RecogniserErrorLog {
    /// The first error of each thread that is listening.
    private static let lines = Mutex<[UInt: String]>([:])

    /// Installed once; never removed.
    private static let isInstalled: Bool = {
        unsafe utter_ps_set_error_sink { line in
            unsafe RecogniserErrorLog.add(String(cString: line))
        }
        return true
    }()

    /// Runs `body` and returns the first error that PocketSphinx reports meanwhile.
    ///
    /// - Returns: nil when it reported none on this thread.
    static func firstError(during body: () -> Void) -> String? {
        guard isInstalled else { return nil }
        let thread = UInt(pthread_self())
        lines.withLock { $0[thread] = "" }
        body()
        let line = lines.withLock { $0.removeValue(forKey: thread) } ?? ""
        return line.isEmpty ? nil : line
    }

    private static func add(_ line: String) {
        let thread = UInt(pthread_self())
        lines.withLock { lines in
            guard lines[thread] == "" else { return }
            lines[thread] = message(in: line)
        }
    }

    /// Cuts `ERROR: "file.c", line 12: ` off a line, and the line break.
    private static func message(in line: String) -> String {
        var rest = Substring(line)
        if rest.hasPrefix("ERROR: \""), let end = rest.utf8.firstRange(of: "\", line ".utf8) {
            rest = rest[end.upperBound...].drop { $0 != " " }.dropFirst()
        }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
