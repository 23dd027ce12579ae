// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A measured thing, and its values by their labels, as Prometheus reads them (text format 0.0.4).
///
/// A label has few values: no text, id or URL is one.
package struct MetricFamily: Sendable {
    package struct Sample: Sendable {
        /// The text behind the family's name, such as `{state="kept"}`.
        let suffix: String
        package let value: Double
    }

    package let name: String
    package let samples: [Sample]
    private let kind: String
    private let help: String

    private init(_ name: String, _ kind: String, _ help: String, _ values: [(String, Double)]) {
        (self.name, self.kind, self.help) = (name, kind, help)
        samples = values.map { Sample(suffix: $0.0, value: $0.1) }
    }

    /// A value that only grows; its name ends in `_total`.
    package static func counter(_ name: String, _ help: String, _ value: Double) -> Self {
        Self(name, "counter", help, [("", value)])
    }

    /// The same for each value of one label.
    package static func counter(
        _ name: String, _ help: String, by label: String, _ values: [String: Double]
    ) -> Self { Self(name, "counter", help, labelled(label, values)) }

    package static func gauge(_ name: String, _ help: String, _ value: Double) -> Self {
        Self(name, "gauge", help, [("", value)])
    }

    package static func gauge(
        _ name: String, _ help: String, by label: String, _ values: [String: Double]
    ) -> Self { Self(name, "gauge", help, labelled(label, values)) }

    /// In seconds.
    package static func histogram(_ name: String, _ help: String, _ found: Histogram) -> Self {
        var count = 0
        let bounds = Histogram.bounds.map { text($0) } + ["+Inf"]
        let buckets = zip(bounds, found.counts).map { bound, more in
            count += more
            return ("_bucket{le=\"\(bound)\"}", Double(count))
        }
        return Self(
            name, "histogram", help, buckets + [("_sum", found.sum), ("_count", Double(count))])
    }

    private static func labelled(
        _ label: String, _ values: [String: Double]
    ) -> [(String, Double)] {
        values.sorted { $0.key < $1.key }.map { ("{\(label)=\"\(escaped($0.key))\"}", $0.value) }
    }

    var text: String {
        (["# HELP \(name) \(help)", "# TYPE \(name) \(kind)"]
            + samples.map { "\(name)\($0.suffix) \(Self.text($0.value))" } + [""])
            .joined(separator: "\n")
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
    package private(set) var sum = 0.0

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

/// The numbers that Prometheus' own clients tell of a process, under the same names.
enum ProcessNumbers {
    static var families: [MetricFamily] {
        var usage = rusage()
        unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
        let seconds = [usage.ru_utime, usage.ru_stime].reduce(0.0) {
            $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
        }
        var families = [
            MetricFamily.counter(
                "process_cpu_seconds_total", "Time of processors, in seconds.", seconds)
        ]
        // Where /proc is not there, nothing is said of these.
        if let statm = try? readFile("/proc/self/statm", limit: 4_096),
            let pages = String(decoding: statm, as: UTF8.self).split(separator: " ").dropFirst()
                .first,
            let count = Double(pages)
        {
            families.append(
                .gauge(
                    "process_resident_memory_bytes", "Memory in use, in bytes.",
                    count * Double(getpagesize())))
        }
        if let descriptors = try? Folder.open(at: "/proc/self/fd").names() {  // No /proc.
            families.append(
                .gauge("process_open_fds", "Descriptors that are open.", Double(descriptors.count)))
        }
        return families
    }
}
