// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import LinuxPlatform

// The last stop or cancel, written down beside the socket: a start that was begun before it and comes
// after it must not record, since the key is up already.
extension ControlPlace {
    private var endMark: String { String(path.dropFirst(folder.utf8.count + 1)) + ".stopped" }

    package func noteEnd(_ end: ProcessBeginning) {
        // Where there is no place for it, a start that was overtaken records, as any other does.
        guard (try? prepareFolder()) != nil,
            // Two numbers can be encoded, always.
            let bytes = try? JSONEncoder().encode(end)
        else { return }
        // As above.
        try? Folder.make(at: folder).replaceFile(endMark, with: Array(bytes), isDurable: false)
    }

    /// When the last stop or cancel was begun; nil when nothing says so.
    package var lastEnd: ProcessBeginning? {
        // A file that is missing, or is not ours, forbids nothing.
        guard let bytes = try? Folder.make(at: folder).contents(of: endMark, limit: 4_096),
            // As above.
            let end = try? JSONDecoder().decode(ProcessBeginning.self, from: Data(bytes))
        else { return nil }
        return end.isPast ? end : nil
    }
}
