// SPDX-License-Identifier: Apache-2.0

internal import TextRules
internal import Utter
internal import UtterTerminal

/// Words, minutes and waiting times of takes, by day and by service.
///
/// Pure.
struct TakeStatistics {
    /// A take that was answered.
    struct Item {
        /// Such as `2026-11-21`, by the clock on the wall.
        var day: String
        var service: String
        var words: Int
        /// In seconds.
        var length: Double
        /// In seconds, from the last sample to the text; nil where that is not known.
        var waited: Double?
    }

    struct Row: Encodable {
        let name: String
        let takes, words: Int
        let minutes: Double
        /// Words a minute.
        let pace: Double?
        let waitMedian: Double?
        /// Nineteen of twenty texts came sooner.
        let waitLongest: Double?
        /// By the person's own prices; nil without one for each service.
        let cost: Double?
    }

    let days, services: [Row]
    let all: Row

    /// `prices` are of a minute, by the names of services.
    init(_ items: [Item], prices: [String: Double]) {
        func rows(_ name: (Item) -> String) -> [Row] {
            Dictionary(grouping: items, by: name).sorted { $0.key < $1.key }
                .map { Self.row($0.key, $0.value, prices) }
        }
        (days, services) = (rows(\.day), rows(\.service))
        all = Self.row("all", items, prices)
    }

    private static func row(_ name: String, _ items: [Item], _ prices: [String: Double]) -> Row {
        let minutes = items.reduce(0) { $0 + $1.length } / 60
        let words = items.reduce(0) { $0 + $1.words }
        let waits = items.compactMap(\.waited).sorted()
        let costs = items.compactMap { item in prices[item.service].map { $0 * item.length / 60 } }
        func rounded(_ value: Double, _ parts: Double) -> Double {
            (value * parts).rounded() / parts
        }
        return Row(
            name: name, takes: items.count, words: words, minutes: rounded(minutes, 10),
            pace: minutes > 0 ? rounded(Double(words) / minutes, 1) : nil,
            waitMedian: rank(0.5, of: waits), waitLongest: rank(0.95, of: waits),
            cost: costs.count == items.count && !costs.isEmpty
                ? rounded(costs.reduce(0, +), 100) : nil)
    }

    /// The nearest rank of sorted values; nil without one.
    private static func rank(_ share: Double, of values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        return values[
            min(values.count, max(1, Int((share * Double(values.count)).rounded(.up)))) - 1]
    }

    /// The words of a text; of one without spaces, as in Chinese, its characters.
    static func words(in text: String) -> Int {
        text.split(whereSeparator: \.isWhitespace).reduce(0) { count, word in
            count + max(1, word.count { $0.unicodeScalars.first?.isIdeographic == true })
        }
    }

    // MARK: - For a person

    private static let heads = [
        "", "takes", "words", "minutes", "words/min", "wait", "p95", "cost",
    ]

    /// A table in columns; one of which nothing is known is left out.
    var lines: [String] {
        let rows =
            [Self.heads] + days.map(\.cells) + [[]] + services.map(\.cells) + [[], all.cells]
        let used = Self.heads.indices.filter { column in
            column == 0 || rows.dropFirst().contains { !$0.isEmpty && !$0[column].isEmpty }
        }
        let widths = Self.heads.indices.map { column in
            rows.map { $0.isEmpty ? 0 : TextWidth.columns(of: $0[column]) }.max() ?? 0
        }
        return rows.map { cells in
            guard !cells.isEmpty else { return "" }
            return used.map { column in
                let blank = String(
                    repeating: " ", count: widths[column] - TextWidth.columns(of: cells[column]))
                return column == 0 ? cells[column] + blank : blank + cells[column]
            }.joined(separator: "  ")
        }
    }
}

extension TakeStatistics.Row {
    fileprivate var cells: [String] {
        func text(_ value: Double?, _ unit: String = "") -> String {
            value.map { "\($0)\(unit)" } ?? ""
        }
        return [
            TerminalText.singleLine(TerminalText.sanitized(name)), "\(takes)", "\(words)",
            "\(minutes)", pace.map { "\(Int($0))" } ?? "", text(waitMedian, " s"),
            text(waitLongest, " s"), text(cost),
        ]
    }
}
