// SPDX-License-Identifier: Apache-2.0

/// What is measured on takes that are recorded while they are sent.
struct LiveBenchmarks {
    let workplace: Workplace
    let report: Report
    /// How long each take is.
    let seconds: Int

    /// Sample captured → byte read by the server, for each kind of card.
    func lateness() throws(BenchmarkError) {
        for card in VirtualMicrophone.Card.allCases {
            let clients = [Client.utterPCM, .utterPCM10, .arecord20]
            for client in clients where client.isOurs || card.isPlain {
                let take = try LiveTake(client, card: card, seconds: seconds, in: workplace)
                report.add(
                    "lateness \(card): \(client.rawValue)", milliseconds: take.lateness,
                    [("losses", Double(take.losses))])
            }
        }
        let opus = try LiveTake(.utterOpus, card: .direct, seconds: seconds, in: workplace)
        report.add(
            "lateness direct: \(Client.utterOpus.rawValue)", milliseconds: opus.opusLateness,
            [("kbit_per_s", Double(opus.body.count) * 8 / Double(seconds) / 1_000)])
    }

    /// Processor time per hour of audio: the slope between a short and a long take, in alternating
    /// rounds.
    func processorTime(rounds: Int = 3) throws(BenchmarkError) {
        var slopes: [Client: [Double]] = [:]
        var shorts: [Client: [Double]] = [:]
        for _ in 0..<rounds {
            for client in Client.allCases {
                let short = try LiveTake(client, card: .direct, seconds: 3, in: workplace)
                let long = try LiveTake(client, card: .direct, seconds: 3 + seconds, in: workplace)
                let more = long.cost.processorTime - short.cost.processorTime
                slopes[client, default: []].append(more / Double(seconds) * 3_600)
                shorts[client, default: []].append(short.cost.processorTime * 1_000)
            }
        }
        for client in Client.allCases {
            report.add(
                "processor time: \(client.rawValue)",
                Distribution(slopes[client] ?? []).figures("s_per_hour") + [
                    ("of_plain_C", ratio(client, to: client.limit, slopes)),
                    ("of_arecord_curl", ratio(client, to: .arecord20, slopes)),
                    ("start_and_end_ms", Distribution(shorts[client] ?? []).median),
                ])
        }
    }

    /// The median of the ratios of each round.
    private func ratio(
        _ client: Client, to other: Client, _ values: [Client: [Double]]
    ) -> Double {
        Distribution(zip(values[client] ?? [], values[other] ?? []).map { $0 / $1 }).median
    }

    /// Resident memory of a take while it is recorded.
    func memory() throws(BenchmarkError) {
        for client in [Client.utterPCM, .utterOpus, .plainPCM] {
            var samples: [(second: Double, size: Double)] = []
            let start = monotonicTime()
            let take = try LiveTake(
                client, card: .direct, seconds: max(seconds, 12), in: workplace,
                onTick: { child in
                    guard let size = child.residentMemory, size > 0 else { return }
                    samples.append((Double(monotonicTime() - start) / 1e9, size))
                })
            report.add(
                "memory: \(client.rawValue)",
                [
                    ("after_5_s_MB", samples.first { $0.second >= 5 }?.size ?? 0),
                    ("last_MB", samples.last?.size ?? 0), ("peak_MB", take.cost.peakMemory),
                ])
        }
    }

    /// Execution → frame 0 of the card, in alternating runs.
    func startUp(runs: Int) throws(BenchmarkError) {
        var values: [Client: [Double]] = [:]
        for _ in 0..<runs {
            for client in [Client.utterPCM, .plainPCM, .arecord20] {
                let take = try LiveTake(client, card: .direct, seconds: 1, in: workplace)
                values[client, default: []].append(
                    Double(take.firstFrameAt - take.startedAt) / 1e6)
            }
        }
        for (client, values) in values {
            report.add("capturing: \(client.rawValue)", milliseconds: Distribution(values))
        }
    }

    /// Every sample of a long take, compared with what the card said.
    func soak(seconds: Int) throws(BenchmarkError) {
        let take = try LiveTake(.utterPCM, card: .direct, seconds: seconds, in: workplace)
        let count = take.body.count / 2
        report.add(
            "soak: utter pcm", milliseconds: take.lateness,
            [
                ("samples", Double(count)), ("expected", Double(seconds * 16_000)),
                ("equal_until", Double(take.matchingSampleCount)), ("losses", Double(take.losses)),
            ])
        guard take.matchingSampleCount == seconds * 16_000, count == seconds * 16_000 else {
            throw BenchmarkError("samples were lost, doubled or changed")
        }
    }
}
