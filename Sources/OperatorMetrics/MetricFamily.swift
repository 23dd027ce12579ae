// SPDX-License-Identifier: Apache-2.0

/// One measured thing, and its values by their labels, as Prometheus reads them (text format 0.0.4).
///
/// A label has few values: no text, id or URL is one.
package struct MetricFamily: Sendable, Equatable {
    package enum Kind: String, Sendable {
        /// It only grows, and its name ends in `_total`.
        case counter
        case gauge
        case histogram
    }

    package struct Sample: Sendable, Equatable {
        /// What follows the family's name.
        var suffix = ""
        package var labels: [(name: String, value: String)]
        package var value: Double

        package static func == (one: Sample, other: Sample) -> Bool {
            one.suffix == other.suffix && one.value == other.value
                && one.labels.elementsEqual(other.labels, by: ==)
        }
    }

    package let name: String
    let help: String
    let kind: Kind
    package var samples: [Sample]

    /// A family with one value.
    package init(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
        self.init(name, kind, help, Double(value))
    }

    /// A family with one value.
    package init(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        (self.name, self.kind, self.help) = (name, kind, help)
        samples = [Sample(labels: [], value: value)]
    }

    /// A family with a value for each value of one label.
    package init(
        _ name: String, _ kind: Kind, _ help: String, by label: String, _ values: [String: Double]
    ) {
        (self.name, self.kind, self.help) = (name, kind, help)
        samples = values.sorted { $0.key < $1.key }.map {
            Sample(labels: [(label, $0.key)], value: $0.value)
        }
    }

    /// A family of a histogram, in seconds.
    package init(_ name: String, _ help: String, _ histogram: Histogram) {
        (self.name, self.kind, self.help) = (name, .histogram, help)
        var count = 0
        samples = zip(Histogram.bounds, histogram.counts).map { bound, found in
            count += found
            return Sample(
                suffix: "_bucket", labels: [("le", Self.text(bound))], value: Double(count))
        }
        let total = Double(histogram.counts.reduce(0, +))
        samples.append(Sample(suffix: "_bucket", labels: [("le", "+Inf")], value: total))
        samples.append(Sample(suffix: "_sum", labels: [], value: histogram.sum))
        samples.append(Sample(suffix: "_count", labels: [], value: total))
    }

    /// The lines of the family.
    var text: String {
        var lines = ["# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"]
        lines += samples.map { sample in
            let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
            let list = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
            return "\(name)\(sample.suffix)\(list) \(Self.text(sample.value))"
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n")
    }

    private static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int(exactly: value).map(String.init) ?? "\(value)"
    }
}

/// How often something took how long.
package struct Histogram: Sendable, Equatable {
    /// In seconds; what takes longer than the last is counted behind it.
    package static let bounds = [
        0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800,
    ]

    var counts = Array(repeating: 0, count: bounds.count + 1)
    package var sum = 0.0

    package init() {}

    package mutating func note(_ seconds: Double) {
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }

    package mutating func note(_ duration: Duration) { note(duration / .seconds(1)) }
}

extension [MetricFamily] {
    package var text: String { map(\.text).joined() }
}
