// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Utter
internal import UtterTerminal

enum ServiceListing {
    /// A line for each service: its name, its token, when it is sent to, the words that must be said,
    /// its title.
    static func table() throws(CommandFailure) -> String {
        var rows: [[String]] = []
        for name in Services.names {
            do throws(CommandFailure) {
                let profile = try Services.profile(name)
                let words = profile.words.filter { $0.isRequired && $0.standard == nil }
                rows.append([
                    name, tokenState(of: profile), profile.isLive ? "live" : "at the end",
                    words.map { "\($0.name)=…" }.joined(separator: " "),
                    TerminalText.singleLine(profile.title),
                ])
            } catch {
                // One that is wrong hides no other.
                rows.append([name, "wrong", "", "", error.message])
            }
        }
        let columns = 4
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            (0..<columns).map { TextWidth.padded(row[$0], to: widths[$0] + 2) }.joined()
                + row[columns]
        }.joined(separator: "\n")
            + "\n\nlive: sent while you speak; at the end: the service takes no chunks, or no slow ones, "
            + "or does not say that it does"
    }

    static let tokenThere = "token there"

    /// Whether the token of a service is where its profile looks for it; no command is run for that.
    static func tokenState(of profile: ServiceProfile) -> String {
        let parts = profile.authentication.parts
        guard !parts.isEmpty else { return "no token" }
        for part in parts where part.isRequired {
            switch part.source {
            case .variable(let name)?:
                if (Environment[name] ?? "").isEmpty { return "\(name) is not set" }
            case .file(let path)?:
                if !OwnFile.isRegular(path) { return "no file" }
            case .credential, .command, .headerFile, .given, nil: break
            }
        }
        guard parts.contains(where: \.isRequired) else { return "no token needed" }
        return parts.allSatisfy { $0.source != nil || !$0.isRequired }
            ? tokenThere : "token needed"
    }

    static func print(_ text: String) throws(CommandFailure) {
        guard StandardOutput.print(text) else {
            throw CommandFailure(
                "standard output takes nothing: \(unsafe String(cString: strerror(errno)))",
                status: .localIO)
        }
    }
}
