// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Measures the release build of `utter` and what people use instead, side by side.
///
///     make bench                            everything but soak and hour, about half an hour
///     swift run -c release --package-path Benchmarks UtterBenchmarks lateness start-up
///     … soak --seconds 600                  every sample of ten minutes
///     … hour                                an hour of audio in a minute
///     … send                                an hour of PCM, as fast as it goes
///     … keys                                a key to the first frame, and to the last byte
///     … realtime                            a sample to its words, over a WebSocket and by an upload
///     … side-by-side                        30 processes beside 30 of arecord and curl
///     … many                                50 and 300 takes in one process
///     … spool                               list and start with many takes on the disk
///     … counts --seconds 4                  system calls, wake-ups and allocations of a period
///     … counts --seconds 4 --check FILE     and fails when one has risen
///     … counts --seconds 4 --chart FILE     and draws them
///
/// A JSON object a line goes to standard output, a table to standard error. The machine should
/// have nothing else to do; `UTTER_BENCH_PROGRAM` names another build to measure.
@main
enum BenchmarkMain {
    static func main() async throws {
        // What this program starts of itself.
        let words = CommandLine.arguments
        switch words.dropFirst().first {
        case "sink": return Sink.serve()
        case "carry":
            return try await ManyBenchmarks.carry(
                Int(words[2]) ?? 1, words[3], to: words[4], stateFolder: words[5])
        default: break
        }
        var names: [String] = []
        var seconds = 20
        var runs = 40
        var (baseline, chart): (String?, String?)
        var arguments = CommandLine.arguments.dropFirst()
        while let word = arguments.popFirst() {
            switch word {
            case "--seconds": seconds = arguments.popFirst().flatMap { Int($0) } ?? seconds
            case "--runs": runs = arguments.popFirst().flatMap { Int($0) } ?? runs
            case "--check": baseline = arguments.popFirst()
            case "--chart": chart = arguments.popFirst()
            default: names.append(word)
            }
        }
        if names.isEmpty {
            names = [
                "start-up", "keys", "realtime", "lateness", "memory", "cpu", "send", "side-by-side",
                "many",
            ]
        }
        let report = Report()
        do {
            let workplace = try Workplace()
            let live = LiveBenchmarks(workplace: workplace, report: report, seconds: seconds)
            let files = FileBenchmarks(workplace: workplace, report: report)
            let many = ManyBenchmarks(workplace: workplace, report: report, seconds: seconds)
            for name in names {
                switch name {
                case "start-up":
                    try files.startUp(runs: runs)
                    try live.startUp(runs: runs)
                case "keys":
                    try TalkBenchmarks(workplace: workplace, report: report).keys(runs: runs)
                case "spool":
                    try SpoolBenchmarks(workplace: workplace, report: report).many(runs: runs)
                case "lateness": try live.lateness()
                case "memory": try live.memory()
                case "cpu": try live.processorTime()
                case "soak": try live.soak(seconds: seconds)
                case "send": try files.send(minutes: 60, runs: 5)
                case "answers": try files.answers(runs: runs)
                case "realtime":
                    try RealtimeBenchmarks(workplace: workplace, report: report).words(runs: runs)
                case "side-by-side": try many.sideBySide(30)
                case "many": try many.takes([50, 300])
                case "counts":
                    let counts = CountBenchmarks(
                        workplace: workplace, report: report, seconds: seconds)
                    try counts.all()
                case "hour": try files.hour(minutes: 60)
                default: throw BenchmarkError("there is no benchmark '\(name)'")
                }
            }
        } catch {
            complain("benchmarks: error: \(error)")
            report.printTable()
            exit(1)
        }
        report.printTable()
        if let chart { try write(CountBenchmarks.chart.svg(of: report), to: chart) }
        guard let baseline else { return }
        let risen = try Baseline(path: baseline).risen(in: report.lines)
        for line in risen { complain("benchmarks: \(line)") }
        if !risen.isEmpty { exit(1) }
    }
}
