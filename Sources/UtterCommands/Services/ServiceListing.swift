// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterSettings
internal import UtterTerminal

enum ServiceListing {
    /// A line for each service: its name, its token, when it is sent to, the words that must be said,
    /// its title.
    static func table() throws(CommandFailure) -> String {
        var rows: [[String]] = []
        for name in names {
            do throws(CommandFailure) {
                let (profile, _) = try Services.shown(name)
                let words = profile.words.filter { $0.isRequired && $0.standard == nil }
                rows.append([
                    name, profile.tokenState,
                    profile.isRealtime ? "realtime" : profile.isLive ? "live" : "at the end",
                    words.map { "\($0.name)=…" }.joined(separator: " "),
                    TerminalText.singleLine(
                        profile.title + (profile.latency.map { "; \($0)" } ?? "")),
                ])
            } catch {
                // A wrong profile hides no other.
                rows.append([name, "wrong", "", "", error.message])
            }
        }
        let columns = 4
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        let legend =
            "realtime: sent while you speak, in messages; live: by an upload; "
            + "at the end: sent when you stop, since the service is not known to "
            + "take a recording while it grows"
        return rows.map { row in
            let head = (0..<columns).map { TextWidth.padded(row[$0], to: widths[$0] + 2) }
            return StandardOutput.folded([row[columns]], behind: head.joined())
        }.joined(separator: "\n") + "\n\n" + StandardOutput.folded([legend])
    }

    /// All services as a JSON array; one that is wrong has an `error` and hides no other.
    static func json() -> String {
        let rows = names.map { name -> JSONObject in
            do throws(CommandFailure) {
                return row(name, try Services.shown(name).0)
            } catch {
                return row(name, nil, error: error.message)
            }
        }
        return JSONOutput.text(rows, isPretty: true)
    }

    static func json(of profile: ServiceProfile, named name: String?) -> String {
        JSONOutput.text(row(name ?? profile.name, profile), isPretty: true)
    }

    private static var names: [String] {
        // An unreadable file names no service; a name may be that of a profile, too.
        let said = (try? Configuration.current())?.services.keys.sorted() ?? []
        let known = Services.names
        return said.filter { !known.contains($0) } + known
    }

    private static func row(
        _ name: String, _ profile: ServiceProfile?, error: String? = nil
    ) -> JSONObject {
        let words = (profile?.words ?? []).map { word -> JSONObject in
            [
                "name": word.name, "isRequired": word.isRequired && word.standard == nil,
                "standard": word.standard, "about": word.about, "values": word.choices,
            ]
        }
        return [
            "name": name, "title": profile?.title, "url": profile?.url.text, "docs": profile?.docs,
            "verified": profile?.verified, "isOwn": profile?.ownText?.place.hasPrefix("/"),
            "isLive": profile?.hearsVoices, "isRealtime": profile?.isRealtime,
            "latency": profile?.latency, "token": profile.flatMap(token), "words": words,
            "error": error,
        ]
    }

    private static func token(of profile: ServiceProfile) -> JSONObject? {
        profile.authentication.token.map { part in
            var variable: String?
            if case .variable(let name)? = part.source { variable = name }
            return [
                "isNeeded": profile.authentication.parts.contains(where: \.isRequired),
                "isThere": profile.tokenState == ServiceProfile.tokenThere, "variable": variable,
            ]
        }
    }

    /// A line for each field of a profile: its name, what stands there, what it says.
    static var fields: String {
        let rows = ProfileKey.all.map { key in
            let form =
                switch key.form {
                case .text: "text"
                case .path: "file"
                case .words(let words): words.joined(separator: ", ")
                case .number: "number"
                case .seconds: "seconds, or a time such as 1m30s"
                case .flag: "true, false"
                case .list: "text or list"
                case .table: key.path.hasSuffix("NAME") ? "text" : "TOML"
                }
            return (key.path, form, key.about)
        }
        let names = rows.map(\.0.count).max() ?? 0
        return rows.map { path, form, about in
            TextWidth.padded(path, to: names + 2) + "\(about) (\(form))"
        }.joined(separator: "\n")
    }

    static var fieldNames: String {
        ProfileKey.all.map { key in
            key.path.hasSuffix("NAME") ? String(key.path.dropLast(4)) : key.path + "="
        }.joined(separator: "\n")
    }
}
