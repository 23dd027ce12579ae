// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The counts that a change must not raise: `counts.json`, a line of `Report` for each row.
struct Baseline {
    /// What may be more: a tenth, and half a call of another thread in ten periods.
    private static let (share, slack) = (1.1, 0.05)

    private var figures: [String: Double] = [:]

    /// Reads the lines.
    ///
    /// - Throws: `BenchmarkError` when there are none.
    init(path: String) throws(BenchmarkError) {
        for line in try textOfFile(path).split(separator: "\n") {
            for (name, value) in Self.figures(of: String(line)) { figures[name] = value }
        }
        guard !figures.isEmpty else { throw BenchmarkError("\(path) holds no figures") }
    }

    /// What has risen, a line each; figures that are new are none.
    func risen(in lines: [String]) -> [String] {
        lines.flatMap(Self.figures).compactMap { name, value in
            guard let old = figures[name], value > old * Self.share + Self.slack else { return nil }
            return "\(name) rose from \(old) to \(value)"
        }
    }

    /// Of `{"benchmark":"NAME","a":1,"b":2}` the pairs `NAME: a`, 1 and `NAME: b`, 2.
    private static func figures(of line: String) -> [(String, Double)] {
        let parts = line.dropFirst().dropLast().split(separator: ",\"")
        let title = parts.first?.split(separator: "\"").last ?? ""
        return parts.dropFirst().compactMap { part in
            let pair = part.split(separator: "\":")
            guard pair.count == 2, let value = Double(pair[1]) else { return nil }
            return ("\(title): \(pair[0])", value)
        }
    }
}
