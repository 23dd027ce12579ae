// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import UtterTerminal

/// A list of takes to walk through, and what its keys mean.
///
/// Pure: told of keys, it says what to do; `lines` is what is to be seen of it, and `sentence` the same
/// for a reader that hears it.
struct BrowseState {
    struct Row: Equatable {
        let id: String
        /// The name by which the person can name it, its time, its state and its length.
        let columns: String
        /// The text, or why there is none.
        let words: String
        let hasText, hasSound: Bool
    }

    enum Act: String, CaseIterable {
        case play, copy, retry, edit, remove, undo, show

        /// The key, as the line of keys shows it.
        var key: Character {
            switch self {
            case .play: "p"
            case .copy: "c"
            case .retry: "r"
            case .edit: "e"
            case .remove: "d"
            case .undo: "u"
            case .show: "s"
            }
        }
    }

    enum Step: Equatable {
        case nothing
        /// Something has changed that is seen or heard.
        case changed
        case act(Act, id: String)
        case quit
    }

    private(set) var rows: [Row] = []
    private(set) var query = ""
    private(set) var isSearching = false
    /// The consequence of the last act, in a sentence.
    var message = ""
    private var selection = 0

    /// Newest first; what was selected stays so, if it is still there.
    mutating func take(_ rows: [Row]) {
        let id = selected?.id
        self.rows = rows
        selection = found.firstIndex { $0.id == id } ?? min(selection, max(0, found.count - 1))
    }

    /// The rows in which the search is found, whatever the case of its letters.
    var found: [Row] {
        guard !query.isEmpty else { return rows }
        let wanted = query.lowercased()
        return rows.filter { $0.words.lowercased().contains(wanted) }
    }

    var selected: Row? {
        let found = found
        return found.indices.contains(selection) ? found[selection] : nil
    }

    mutating func handle(_ key: KeyReader.Key, page: Int) -> Step {
        message = ""
        switch key {
        case .end: return .quit
        case .up: return move(to: selection - 1)
        case .down: return move(to: selection + 1)
        case .pageUp: return move(to: selection - page)
        case .pageDown: return move(to: selection + page)
        case .first: return move(to: 0)
        case .last: return move(to: .max)
        case .escape:
            guard isSearching || !query.isEmpty else { return .quit }
            return search("", goesOn: false)
        case .enter where isSearching:
            isSearching = false
            return .changed
        case .enter: return act(.play)
        case .backspace:
            return isSearching ? search(String(query.dropLast()), goesOn: true) : .nothing
        case .character(let character) where isSearching:
            return search(query + String(character), goesOn: true)
        case .character("/"): return search(query, goesOn: true)
        case .character("q"): return .quit
        case .character("j"): return move(to: selection + 1)
        case .character("k"): return move(to: selection - 1)
        case .character(let character):
            guard let act = Act.allCases.first(where: { $0.key == character }) else {
                return .nothing
            }
            return self.act(act)
        }
    }

    private mutating func move(to place: Int) -> Step {
        selection = min(max(0, place), max(0, found.count - 1))
        return .changed
    }

    private mutating func search(_ query: String, goesOn: Bool) -> Step {
        (self.query, isSearching, selection) = (query, goesOn, 0)
        return .changed
    }

    private mutating func act(_ act: Act) -> Step {
        if act == .undo { return .act(act, id: "") }
        guard let row = selected else {
            message = "nothing is selected"
            return .changed
        }
        if act == .play, !row.hasSound {
            message = "the sound of \(row.id) is not on the disk any more"
        } else if [.copy, .edit].contains(act), !row.hasText {
            message = "\(row.id) has no text"
        } else {
            return .act(act, id: row.id)
        }
        return .changed
    }

    // MARK: - What is to be seen

    /// The state in a sentence.
    var sentence: String {
        if !message.isEmpty { return message }
        let number = found.isEmpty ? 0 : selection + 1
        let place = query.isEmpty ? "" : " with '\(query)'"
        guard let row = selected else {
            return query.isEmpty ? "there is no recording" : "no recording\(place)"
        }
        return "\(number) of \(found.count)\(place): \(row.columns): \(row.words)"
    }

    /// The screen, whose lines have at most so many columns.
    func lines(columns: Int, rows count: Int) -> [(text: String, isSelected: Bool)] {
        let found = found
        let head =
            isSearching || !query.isEmpty
            ? "/\(query)\(isSearching ? "▏" : "")  \(found.count) of \(rows.count)"
            : rows.count == 1 ? "1 recording" : "\(rows.count) recordings"
        let height = max(1, count - 3)
        let first = max(0, min(selection - height / 2, found.count - height))
        let list = found[min(first, found.count)...].prefix(height).enumerated().map { index, row in
            let isSelected = first + index == selection
            let line = "\(isSelected ? ">" : " ") \(row.columns)  \(row.words)"
            return (text: Self.cut(line, to: columns), isSelected: isSelected)
        }
        let blank = Array(repeating: (text: "", isSelected: false), count: height - list.count)
        let foot = message.isEmpty ? Self.keys(columns: columns) : message
        return [(Self.cut(head, to: columns), false)] + list + blank
            + [("", false), (Self.cut(foot, to: columns), false)]
    }

    /// The keys, with their names where there is room for all.
    private static func keys(columns: Int) -> String {
        let long = Act.allCases.map { "\($0.key) \($0.rawValue)" } + ["/ search", "q quit"]
        let short = Act.allCases.map { String($0.key) } + ["/", "q"]
        let lines = [
            long.joined(separator: "  "), long.joined(separator: " "),
            "keys: " + short.joined(separator: " "),
        ]
        return lines.first { TextWidth.columns(of: $0) <= columns } ?? ""
    }

    /// The beginning of a line that has no control characters.
    private static func cut(_ text: String, to columns: Int) -> String {
        let line = TerminalText.singleLine(TerminalText.sanitized(text))
        return TextWidth.prefix(of: line, columns: columns)
    }
}
