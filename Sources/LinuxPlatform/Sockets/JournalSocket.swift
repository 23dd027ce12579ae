// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where systemd's journal takes entries with fields of their own (systemd-journald.service(8)).
package struct JournalSocket: Sendable {
    private let path: String

    /// Nil unless the descriptor leads to the journal, as `stream` says: its device and inode number.
    ///
    /// `stream` is what systemd sets as `JOURNAL_STREAM` (systemd.exec(5)).
    package init?(
        leadingFrom descriptor: Int32, named stream: String?,
        at path: String = "/run/systemd/journal/socket"
    ) {
        var status = stat()
        guard let stream, unsafe fstat(descriptor, &status) == 0,
            stream == "\(status.st_dev):\(status.st_ino)"
        else { return nil }
        self.path = path
    }

    /// Hands over a line for information.
    ///
    /// Field names have capital letters, digits and underscores; line breaks in values become spaces.
    ///
    /// - Returns: whether the journal has it.
    package func take(_ message: String, _ fields: [String: String]) -> Bool {
        let program = CommandLine.arguments.first?.split(separator: "/").last ?? "utter"
        var entry = [
            "MESSAGE": message, "PRIORITY": "6", "SYSLOG_IDENTIFIER": String(program),
        ]
        entry.merge(fields) { own, _ in own }
        let text = entry.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(TerminalText.singleLine($0.value))\n" }.joined()
        // A journal that is not there has no fields.
        return (try? LocalSocket.sendDatagram(text, to: path)) != nil
    }
}
