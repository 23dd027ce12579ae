// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform

/// The last stop or cancel, written down beside the socket.
///
/// A start that was begun before it and comes after it must not record: the key is up already.
struct EndMark {
    private let place: ControlPlace

    init(_ place: ControlPlace) { self.place = place }

    private var name: String {
        String(place.path.dropFirst(place.folder.utf8.count + 1)) + ".stopped"
    }

    func write(_ end: ProcessBeginning) {
        // Where there is no place for it, a start that was overtaken records, as any other does.
        guard (try? place.prepareFolder()) != nil,
            // Two numbers can be encoded, always.
            let bytes = try? JSONEncoder().encode(end)
        else { return }
        // As above.
        try? Folder.make(at: place.folder)
            .replaceFile(name, with: Array(bytes), isDurable: false)
    }

    /// When the last stop or cancel was begun; nil when nothing says so.
    var end: ProcessBeginning? {
        // A file that is missing, or is none of ours, forbids nothing.
        guard let bytes = try? Folder.make(at: place.folder).contents(of: name, limit: 4_096),
            // As above.
            let end = try? JSONDecoder().decode(ProcessBeginning.self, from: Data(bytes))
        else { return nil }
        return end.isPast ? end : nil
    }
}
