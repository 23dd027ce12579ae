// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterSettings
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
                    name, profile.tokenState, profile.isLive ? "live" : "at the end",
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
}

extension ServiceListing {
    private struct Row: Encodable {
        var name: String
        @Nullable var title: String? = nil
        @Nullable var url: String? = nil
        @Nullable var docs: String? = nil
        @Nullable var verified: String? = nil
        @Nullable var isOwn: Bool? = nil
        @Nullable var isLive: Bool? = nil
        @Nullable var token: Token? = nil
        var words: [Word] = []
        @Nullable var error: String? = nil
    }

    private struct Token: Encodable {
        var isNeeded, isThere: Bool
        @Nullable var variable: String?
    }

    private struct Word: Encodable {
        var name: String
        var isRequired: Bool
        @Nullable var standard: String?
        @Nullable var about: String?
        var values: [String]
    }

    /// All services as a JSON array; one that is wrong has an `error` and hides no other.
    static func json() -> String {
        var rows: [Row] = []
        for name in Services.names {
            do throws(CommandFailure) {
                rows.append(row(name, try Services.profile(name)))
            } catch {
                rows.append(Row(name: name, error: error.message))
            }
        }
        return JSONOutput.text(rows, isPretty: true)
    }

    static func json(of profile: ServiceProfile) -> String {
        JSONOutput.text(row(profile.name, profile), isPretty: true)
    }

    private static func row(_ name: String, _ profile: ServiceProfile) -> Row {
        var row = Row(name: name, title: profile.title, url: profile.url.text)
        row.docs = profile.docs
        row.verified = profile.verified
        row.isOwn = profile.texts[0].place.hasPrefix("/")
        row.isLive = profile.isLive
        if let part = profile.authentication.token {
            var variable: String?
            if case .variable(let name)? = part.source { variable = name }
            row.token = Token(
                isNeeded: profile.authentication.parts.contains(where: \.isRequired),
                isThere: profile.tokenState == ServiceProfile.tokenThere, variable: variable)
        }
        row.words = profile.words.map { word in
            Word(
                name: word.name, isRequired: word.isRequired && word.standard == nil,
                standard: word.standard, about: word.about,
                values: word.choices)
        }
        return row
    }
}

extension ServiceListing {
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

    /// The names of the fields, each before the sign that its value follows.
    static var fieldNames: String {
        ProfileKey.all.map { key in
            key.path.hasSuffix("NAME") ? String(key.path.dropLast(4)) : key.path + "="
        }.joined(separator: "\n")
    }
}
