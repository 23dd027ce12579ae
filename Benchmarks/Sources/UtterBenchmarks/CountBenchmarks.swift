// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What a period of 20 ms costs in counts, which are the same on a busy machine and an idle one.
///
/// Each count is the slope between a short and a long take, so that start and end cost nothing.
struct CountBenchmarks {
    let workplace: Workplace
    let report: Report
    /// How much longer the long takes are than the short ones.
    let seconds: Int

    /// What `counts.svg` shows.
    static let chart = Chart(
        blocks: [
            ("system_calls", "System calls of a take, for 20 ms of speech"),
            ("wake_ups", "Wake-ups of a take, for 20 ms of speech"),
        ], prefix: "period of ")

    /// System calls, wake-ups and, under valgrind, allocations and instructions of a take and period.
    func all() throws(BenchmarkError) {
        for client in [Client.utterPCM, .utterOpus, .arecord20] {
            try add(
                client.rawValue, takes: 1, allocates: client.isOurs
            ) { (seconds, prefix) throws(BenchmarkError) in
                try record(client, seconds: seconds, prefix)
            }
        }
        for count in [1, 10, 100] {
            let name = "utter, \(count) \(count == 1 ? "file" : "files")"
            try add(name, takes: count) { (seconds, prefix) throws(BenchmarkError) in
                try carry(count, seconds: seconds, prefix)
            }
        }
    }

    private func add(
        _ name: String, takes: Int, allocates: Bool = false,
        _ run: (_ seconds: Int, _ prefix: [String]) throws(BenchmarkError) -> Child.Cost
    ) throws(BenchmarkError) {
        let periods = Double(seconds * 50 * takes)
        func slope(
            _ prefix: [String], _ count: (Child.Cost) throws(BenchmarkError) -> Double
        ) throws(BenchmarkError) -> Double {
            let short = try count(try run(2, prefix))
            return (try count(try run(2 + seconds, prefix)) - short) / periods
        }
        let calls = "\(workplace.folder)/calls"
        let heap = "\(workplace.folder)/heap"
        var figures = [
            (
                "system_calls",
                try slope(["strace", "-f", "-q", "-c", "-o", calls]) { _ throws(BenchmarkError) in
                    try total(of: calls)
                }
            ),
            ("wake_ups", try slope([]) { $0.wakeUps }),
        ]
        // Under valgrind many takes are late, and late takes do more in one period.
        if allocates {
            let valgrind = ["valgrind", "--tool=memcheck", "--leak-check=no", "--log-file=\(heap)"]
            figures.append(
                (
                    "allocations",
                    try slope(valgrind) { _ throws(BenchmarkError) in try allocations(in: heap) }
                ))
        }
        report.add("period of \(name)", figures.map { (name: $0.0, value: $0.1) })
    }

    private func record(
        _ client: Client, seconds: Int, _ prefix: [String]
    ) throws(BenchmarkError) -> Child.Cost {
        let sink = try Sink()
        let card = try VirtualMicrophone(.direct, in: workplace)
        let words = client.recording(
            workplace, device: card.card.device, seconds: seconds, url: sink.url)
        return try cost(of: prefix + words, card.environment)
    }

    private func carry(
        _ count: Int, seconds: Int, _ prefix: [String]
    ) throws(BenchmarkError) -> Child.Cost {
        let sink = try Sink()
        return try cost(
            of: prefix + [
                CommandLine.arguments[0], "carry", "\(count)",
                try workplace.makeRecording(seconds: seconds), sink.url,
                "\(workplace.folder)/counted-\(monotonicTime())",
            ], [:])
    }

    private func cost(
        of words: [String], _ environment: [String: String]
    ) throws(BenchmarkError) -> Child.Cost {
        // valgrind gives up at the notes for debuggers that another linker has written.
        let words = words.map { word in
            guard [workplace.program, CommandLine.arguments[0]].contains(word) else { return word }
            let stripped = "\(workplace.folder)/stripped-\(word == workplace.program)"
            let isThere = access(stripped, X_OK) == 0
            return isThere || Child.run(["strip", "-o", stripped, word]) == 0 ? stripped : word
        }
        let cost = try Child(words, environment: environment).wait()
        guard cost.status == 0 else {
            throw BenchmarkError("\(words[0]) ended with \(cost.status)")
        }
        return cost
    }

    /// The sum that `strace -c` writes last: "100.00  0.01  1  1234  5 total".
    private func total(of path: String) throws(BenchmarkError) -> Double {
        let words = try lines(of: path).last { $0.hasSuffix(" total") }?.split(separator: " ") ?? []
        guard words.count > 3, let count = Double(words[3]) else {
            throw BenchmarkError("strace counted nothing; may this process be traced?")
        }
        return count
    }

    /// Of "==1== total heap usage: 1,234 allocs, …", of every process.
    private func allocations(in path: String) throws(BenchmarkError) -> Double {
        let counts = try lines(of: path).compactMap { line -> Double? in
            guard let words = line.split(separator: "usage: ", maxSplits: 1).dropFirst().first,
                let number = words.split(separator: " ").first
            else { return nil }
            return Double(number.filter { $0 != "," })
        }
        guard let first = counts.first else { throw BenchmarkError("valgrind counted nothing") }
        return counts.dropFirst().reduce(first, +)
    }

    private func lines(of path: String) throws(BenchmarkError) -> [String] {
        try textOfFile(path).split(separator: "\n").map { String($0) }
    }
}

/// Writes a file anew.
func write(_ text: String, to path: String) throws(BenchmarkError) {
    guard let file = fopen(path, "w") else { throw BenchmarkError("cannot write \(path)") }
    fputs(text, file)
    fclose(file)
}

/// The text of a small file.
func textOfFile(_ path: String) throws(BenchmarkError) -> String {
    guard let file = fopen(path, "r") else { throw BenchmarkError("cannot read \(path)") }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
}
