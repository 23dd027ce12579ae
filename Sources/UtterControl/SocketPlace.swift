// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
package import LinuxPlatform

/// Where a socket of this person is: the control socket, or that of a recogniser.
package struct SocketPlace: Equatable, Sendable {
    /// For messages.
    let name: String
    package let path: String
    /// Whether the person names it: a control socket may lead to another machine then.
    package let isGiven: Bool

    package static let variable = "UTTER_SOCKET"

    init(user: uid_t, _ variables: (String) -> String?) throws(ControlFailure) {
        func value(_ name: String) -> String? { variables(name).flatMap { $0.isEmpty ? nil : $0 } }
        if let given = value(Self.variable) {
            guard given.hasPrefix("/") else {
                throw ControlFailure(
                    "\(Self.variable) is '\(given)', but must be an absolute path",
                    hint: "write the whole path of the socket, from / on", status: .configuration)
            }
            (path, isGiven) = (given, true)
        } else {
            path = Self.usualFolder(of: user, value) + "/control"
            isGiven = false
        }
        name = "control socket"
        try checkLength(hint: "name a shorter one with \(Self.variable)")
    }

    /// Where a recogniser listens for the programs of this person's desktop, by its address `unix:PATH`;
    /// `unix:` is the usual place.
    package init(_ address: String) throws(ControlFailure) {
        let given = String(address.dropFirst("unix:".count))
        isGiven = !given.isEmpty
        let usual = Self.usualFolder(of: geteuid()) { Environment[filled: $0] } + "/recogniser"
        path = isGiven ? given : usual
        name = "recogniser's socket"
        try checkLength(hint: "name a shorter one: unix:PATH")
    }

    /// The same, with the whole path.
    package var text: String { "unix:\(path)" }

    private static func usualFolder(
        of user: uid_t, _ variables: (String) -> String?
    ) -> String {
        // A relative value is ignored, as the XDG Base Directory Specification demands.
        let runtime = variables("XDG_RUNTIME_DIR").flatMap { $0.hasPrefix("/") ? $0 : nil }
        return runtime.map { $0 + "/utter" } ?? "/tmp/utter-\(user)"
    }

    private func checkLength(hint: String) throws(ControlFailure) {
        guard path.utf8.count <= LocalSocket.longestPath else {
            throw ControlFailure(
                "the \(name)'s path is too long for the system: \(path.utf8.count) bytes, "
                    + "at most \(LocalSocket.longestPath): \(path)",
                hint: hint, status: .configuration)
        }
    }

    package static func current() throws(ControlFailure) -> SocketPlace {
        try SocketPlace(user: geteuid()) { Environment[$0] }
    }

    package var folder: String { Folder.parent(of: path) }

    /// Makes sure that others have no part in the folder, unless the person names it.
    func checkFolder() throws(ControlFailure) {
        guard !isGiven, let danger = Folder.danger(at: folder) else { return }
        throw ControlFailure(
            "the folder of the \(name), \(folder), cannot be trusted: \(danger)",
            hint: "remove it, or set XDG_RUNTIME_DIR", status: .configuration)
    }

    /// Makes the folder when it is missing, and makes sure that it is ours alone.
    ///
    /// A folder that the person names may be open to others; the socket itself is not.
    package func prepareFolder() throws(ControlFailure) {
        if isGiven, Folder.mayExist(at: folder) { return }
        try checkFolder()
        // The folder around it is made at login, and removed at the last logout.
        let base = Folder.parent(of: folder)
        guard isGiven || Folder.mayExist(at: base) else {
            throw ControlFailure(
                "the \(name) has no folder: XDG_RUNTIME_DIR is \(base), which does not exist",
                hint: "set it to a folder of yours, or unset it", status: .configuration)
        }
        do throws(SystemError) {
            try Folder.make(at: folder).closeToOthers()
        } catch {
            throw ControlFailure(
                "the \(name) has no folder: \(error.description)",
                hint: "set XDG_RUNTIME_DIR to a folder of yours", status: .configuration,
                cause: error)
        }
    }
}

// The last stop or cancel, written down beside the socket: a start that was begun before it and comes
// after it must not record, since the key is up already.
extension SocketPlace {
    private var endMark: String { String(path.dropFirst(folder.utf8.count + 1)) + ".stopped" }

    package func noteEnd(_ end: ProcessBeginning) {
        // Where there is no place for it, a start that was overtaken records, as any other does.
        guard (try? prepareFolder()) != nil,
            // Two numbers can be encoded, always.
            let bytes = try? JSONEncoder().encode(end)
        else { return }
        // Without the file, a late start is not forbidden.
        try? Folder.make(at: folder).replaceFile(endMark, with: Array(bytes), isDurable: false)
    }

    /// When the last stop or cancel was begun; nil when nothing says so.
    package var lastEnd: ProcessBeginning? {
        // A file that is missing, or is not ours, forbids nothing.
        guard let bytes = try? Folder.make(at: folder).contents(of: endMark, limit: 4_096),
            // A file in another form forbids nothing.
            let end = try? JSONDecoder().decode(ProcessBeginning.self, from: Data(bytes))
        else { return nil }
        return end.isPast ? end : nil
    }
}
