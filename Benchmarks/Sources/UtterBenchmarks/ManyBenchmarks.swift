// SPDX-License-Identifier: Apache-2.0

import Glibc
import Utter

/// What is measured on many takes at once.
struct ManyBenchmarks {
    let workplace: Workplace
    let report: Report
    /// How much longer the long takes are than the short ones.
    let seconds: Int

    /// Processor time per hour of audio with `count` processes side by side, each with its own card,
    /// in alternating rounds.
    func sideBySide(_ count: Int, rounds: Int = 3) throws(BenchmarkError) {
        let clients = [Client.utterPCM, .utterPCM40, .arecord20, .plainPCM]
        var slopes = clients.map { _ in [Double]() }
        for _ in 0..<rounds {
            for (index, client) in clients.enumerated() {
                let short = try cost(of: client, count, seconds: 3)
                let long = try cost(of: client, count, seconds: 3 + seconds)
                slopes[index].append((long - short) / Double(seconds * count) * 3_600)
            }
        }
        for (client, slopes) in zip(clients, slopes) {
            report.add(
                "\(count) processes: \(client.rawValue)",
                Distribution(slopes).figures("s_per_hour"))
        }
    }

    private func cost(
        of client: Client, _ count: Int, seconds: Int
    ) throws(BenchmarkError) -> Double {
        let sink = try Sink()
        var children: [(Child, VirtualMicrophone)] = []
        for _ in 0..<count {
            let card = try VirtualMicrophone(.direct, in: workplace)
            children.append(
                (
                    try Child(
                        client.recording(
                            workplace, device: card.card.device, seconds: seconds, url: sink.url),
                        environment: card.environment), card
                ))
        }
        var total = 0.0
        for (child, _) in children {
            let cost = child.wait()
            guard cost.status == 0 else {
                throw BenchmarkError("\(client.rawValue) ended with \(cost.status)")
            }
            total += cost.processorTime
        }
        return total
    }

    /// Processor time and memory of takes in one process: the slope over time, and over takes.
    func takes(_ counts: [Int]) throws(BenchmarkError) {
        for isOurs in [true, false] {
            let (alone, _) = try carry(1, seconds: 3 + seconds, isOurs: isOurs)
            for count in counts {
                let (_, short) = try carry(count, seconds: 3, isOurs: isOurs)
                let (memory, long) = try carry(count, seconds: 3 + seconds, isOurs: isOurs)
                report.add(
                    "\(count) takes in one process: \(isOurs ? "utter" : "plain C")",
                    [
                        ("s_per_hour", (long - short) / Double(seconds * count) * 3_600),
                        ("MB_per_take", (memory - alone) / Double(count - 1)),
                    ])
            }
        }
    }

    /// Carries takes in a process of their own: its peak of memory in MB, and its processor time.
    private func carry(
        _ count: Int, seconds: Int, isOurs: Bool
    ) throws(BenchmarkError) -> (memory: Double, time: Double) {
        let sink = try Sink()
        let words =
            isOurs
            ? [
                CommandLine.arguments[0], "carry", "\(count)",
                try workplace.makeRecording(seconds: seconds), sink.url,
                "\(workplace.folder)/carried-\(monotonicTime())",
            ] : [workplace.plainClient, "replay", "\(count)", "\(seconds)", sink.url]
        let cost = try Child(words).wait()
        guard cost.status == 0 else {
            throw BenchmarkError("\(count) takes ended with \(cost.status)")
        }
        return (cost.peakMemory, cost.processorTime)
    }

    /// The process that carries: replays a recording `count` times at once, each to the URL.
    static func carry(
        _ count: Int, _ recording: String, to url: String, stateFolder: String
    ) async throws {
        let pipeline = try Pipeline(spool: Spool(at: stateFolder))
        defer { pipeline.shutDown() }
        let service = try RecognitionService(url: ServiceURL(url))
        let takes = (0..<count).map { _ in
            pipeline.start(
                TakePlan(
                    source: FileReplay(path: recording, pace: .realTime),
                    delivery: DeliveryPlan(service: service, retry: .never)))
        }
        for take in takes {
            guard case .success = await take.outcome.result else {
                throw BenchmarkError("a take was not answered")
            }
        }
    }
}
