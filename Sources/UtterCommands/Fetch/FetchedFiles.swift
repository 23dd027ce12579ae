// SPDX-License-Identifier: Apache-2.0

internal import Downloads
internal import Utter
internal import UtterTerminal

/// The files of a command that URLs name.
struct FetchedFiles {
    /// Where they are, playlists among them.
    var paths: Set<String> = []
    var playlists: Set<String> = []
    /// Why others are not there, by their URLs.
    var failures: [String: CommandFailure] = [:]
    /// The downloads that came for this command alone.
    fileprivate var ids: [String] = []

    /// Removes what came for this command alone, once its texts are there.
    func release() {
        let downloads = Downloads(in: Environment.stateFolder)
        // A download that stays is listed.
        for id in ids { try? downloads.remove(id) }
    }
}

extension TakeSession {
    /// Fetches what is named by URLs, in whose place paths stand then.
    mutating func fetched(
        _ names: [String], keepsNothing: Bool
    ) async throws(CommandFailure) -> (names: [String], FetchedFiles) {
        var fetched = FetchedFiles()
        let isURL = { (name: String) in
            ["http://", "https://"].contains { name.lowercased().hasPrefix($0) }
        }
        guard names.contains(where: isURL) else { return (names, fetched) }
        guard !keepsNothing else {
            throw CommandFailure(
                "what lies at a URL is on the disk while it is fetched, which --no-keep forbids",
                hint: "pass it on: curl -fL URL | utter send --no-keep -", status: .usage)
        }
        let fetching = try FetchSession(isQuiet: output.quiet, obeying: running)
        defer { fetching.end() }
        // Downloads that the person has begun before stay.
        let before = Set(fetching.downloads.all().map(\.id))
        var found: [String] = []
        for name in names {
            guard isURL(name) else {
                found.append(name)
                continue
            }
            var download: Download
            do throws(CommandFailure) {
                download = Download(try orFailure { try ServiceURL(name) })
                try FetchSession.prepare(&download)
            } catch {
                found.append(name)
                fetched.failures[name] = error
                continue
            }
            switch await fetching.result(of: download) {
            case .success(let file):
                found.append(file.path)
                fetched.paths.insert(file.path)
                if file.isPlaylist { fetched.playlists.insert(file.path) }
                if !before.contains(file.id) { fetched.ids.append(file.id) }
                fetchNotices[file.path] = file.notices
                file.tellNotices(as: name)
            case .failure(let failure):
                found.append(name)
                fetched.failures[name] = CommandFailure(failure)
            }
        }
        return (found, fetched)
    }

    func fetchWaiting() async throws(CommandFailure) -> ExitStatus {
        // Most people fetch nothing.
        guard Downloads(in: spool.folder).all().contains(where: { $0.state == .waiting }) else {
            return .textPrinted
        }
        let fetching = try FetchSession(isQuiet: output.quiet, obeying: running)
        defer { fetching.end() }
        return await fetching.goOn(printsPaths: false)
    }
}
