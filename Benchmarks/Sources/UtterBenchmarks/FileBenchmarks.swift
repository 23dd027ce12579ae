// SPDX-License-Identifier: Apache-2.0

/// What is measured on recordings that are sent.
struct FileBenchmarks {
    let workplace: Workplace
    let report: Report

    /// Execution → first byte of the body at the server, in alternating runs.
    func startUp(runs: Int) throws(BenchmarkError) {
        let file = try workplace.makeRecording(seconds: 3)
        let server = try BodyServer()
        let clients: [(name: String, words: [String])] = [
            ("utter send", [workplace.program, "send", file, "--to", server.url, "-q"]),
            (
                "curl -T",
                [
                    "curl", "-sS", "-X", "POST", "-H", "Expect:", "-H",
                    "Transfer-Encoding: chunked", "-T", file, server.url,
                ]
            ),
        ]
        var values = clients.map { _ in [Double]() }
        var costs = clients.map { _ in [Double]() }
        for run in 0..<runs {
            for step in clients.indices {
                let index = (run + step) % clients.count
                let child = try Child(clients[index].words)
                var first: Int64?
                try server.receive { _, time in first = first ?? time }
                values[index].append(Double((first ?? 0) - child.start) / 1e6)
                costs[index].append(child.wait().processorTime * 1_000)
            }
        }
        for (index, client) in clients.enumerated() {
            report.add(
                "first body byte: \(client.name)", milliseconds: Distribution(values[index]),
                [
                    ("p10_ms", Distribution(values[index]).percentile(10)),
                    ("processor_ms", Distribution(costs[index]).median),
                ])
        }
        report.add(
            "first body byte: utter / curl",
            [
                ("median_ratio", Distribution(values[0]).median / Distribution(values[1]).median),
                (
                    "p10_ratio",
                    Distribution(values[0]).percentile(10) / Distribution(values[1]).percentile(10)
                ),
            ])
    }

    /// An hour of PCM as fast as it goes, in alternating runs: from execution to the end.
    func send(minutes: Int, runs: Int) throws(BenchmarkError) {
        let file = try workplace.makeRecording(seconds: minutes * 60)
        let sink = try Sink()
        let clients: [(name: String, words: [String])] = [
            (
                "utter send",
                [
                    workplace.program, "send", file, "--to", sink.url, "-q", "--format", "pcm",
                    "-c", "transfer.framing=chunked",
                ]
            ),
            (
                "curl -T",
                [
                    "curl", "-sS", "-X", "POST", "-H", "Expect:", "-H",
                    "Transfer-Encoding: chunked", "-T", file, sink.url,
                ]
            ),
        ]
        for client in clients {
            var times: [Double] = []
            var costs: [Double] = []
            for _ in 0..<runs {
                let child = try Child(client.words)
                costs.append(child.wait().processorTime * 1_000)
                times.append(Double(monotonicTime() - child.start) / 1e6)
            }
            report.add(
                "\(minutes) min of PCM: \(client.name)", milliseconds: Distribution(times),
                [("processor_ms", Distribution(costs).median)])
        }
    }

    /// The processor time of a megabyte of an answer: what `send` needs for one, less what it needs
    /// for a few bytes.
    func answers(runs: Int) throws(BenchmarkError) {
        let file = try workplace.makeRecording(seconds: 1)
        let server = try BodyServer()
        let words = String(repeating: "a few words ", count: 1 << 20 / 12)
        let line = "{\"text\": \"\(words.prefix(60))\", \"is_final\": true}\n"
        let answers = [
            ("a word", "{\"text\": \"word\"}"), ("one JSON text", "{\"text\": \"\(words)\"}"),
            ("JSON lines", String(repeating: line, count: 1 << 20 / line.utf8.count)),
        ]
        var least = 0.0
        for (name, answer) in answers {
            var costs: [Double] = []
            for _ in 0..<runs {
                let child = try Child([workplace.program, "send", file, "--to", server.url, "-q"])
                try server.receive(answer: answer, type: "application/json") { _, _ in }
                costs.append(child.wait().processorTime * 1_000)
            }
            let cost = Distribution(costs).median
            if least == 0 { least = cost }
            report.add("a megabyte of \(name)", [("processor_ms", cost - least)])
        }
    }

    /// Resident memory over an hour of audio, replayed at 60 times its speed.
    func hour(minutes: Int) throws(BenchmarkError) {
        let file = try workplace.makeRecording(seconds: minutes * 60)
        let server = try BodyServer()
        let child = try Child([
            workplace.program, "send", file, "--pace", "60", "--to", server.url, "-q",
        ])
        var samples: [(minute: Double, size: Double)] = []
        var byteCount = 0
        try server.receive(
            onTick: {
                guard let size = child.residentMemory, size > 0 else { return }
                samples.append((Double(byteCount) / 1_920_000, size))
            }, onBody: { piece, _ in byteCount += piece.count })
        let cost = child.wait()
        // The start is no growth.
        let steady = samples.filter { $0.minute > Double(minutes) / 6 }
        report.add(
            "memory of \(minutes) min: utter send --pace 60",
            [
                ("slope_MB_per_hour", slope(steady) * 60), ("last_MB", samples.last?.size ?? 0),
                ("peak_MB", cost.peakMemory), ("sent_MB", Double(byteCount) / 1e6),
            ])
    }

    /// The slope of the straight line through the samples (least squares).
    private func slope(_ samples: [(minute: Double, size: Double)]) -> Double {
        let count = Double(samples.count)
        let meanX = samples.reduce(0) { $0 + $1.minute } / count
        let meanY = samples.reduce(0) { $0 + $1.size } / count
        let products = samples.reduce(0) { $0 + ($1.minute - meanX) * ($1.size - meanY) }
        let squares = samples.reduce(0) { $0 + ($1.minute - meanX) * ($1.minute - meanX) }
        return squares > 0 ? products / squares : 0
    }
}
