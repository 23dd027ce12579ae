// SPDX-License-Identifier: Apache-2.0

/// One live take that was recorded and received.
struct LiveTake {
    /// Each piece of the body: when it was read, and how many bytes had come by then.
    var arrivals: [(time: Int64, byteCount: Int)] = []
    /// The body.
    var body: [UInt8] = []
    /// When frame 0 of the card began.
    var firstFrameAt: Int64 = 0
    /// When the client was executed.
    var startedAt: Int64 = 0
    /// What the client cost.
    var cost = Child.Cost(processorTime: 0, peakMemory: 0, status: 0)
    /// Overruns, and frames read too late.
    var losses = 0

    /// Records with a client until it ends by itself.
    ///
    /// `onTick` is called about every 100 ms with the client's process.
    ///
    /// - Throws: `BenchmarkError` when the client failed.
    init(
        _ client: Client, card: VirtualMicrophone.Card, seconds: Int, in workplace: Workplace,
        onTick: (Child) -> Void = { _ in }
    ) throws(BenchmarkError) {
        let microphone = try VirtualMicrophone(card, in: workplace)
        let server = try BodyServer()
        let child = try Child(
            client.recording(workplace, device: card.device, seconds: seconds, url: server.url),
            environment: microphone.environment)
        var arrivals: [(time: Int64, byteCount: Int)] = []
        var body: [UInt8] = []
        try server.receive(onTick: { onTick(child) }) { piece, time in
            body += piece
            arrivals.append((time, body.count))
        }
        self.arrivals = arrivals
        self.body = body
        startedAt = child.start
        cost = child.wait()
        firstFrameAt = microphone.firstFrameAt
        losses = microphone.losses
        guard cost.status == 0 else {
            throw BenchmarkError("\(client.rawValue) ended with \(cost.status)")
        }
    }

    /// How late each sample of a PCM body was read, in ms.
    var lateness: Distribution {
        var values: [Double] = []
        var next = 0
        for arrival in arrivals {
            while next < arrival.byteCount / 2 {
                next += 1
                values.append(milliseconds(from: next, to: arrival.time))
            }
        }
        return Distribution(values)
    }

    /// The same for Ogg Opus: a sample has come when the page is complete that covers it.
    var opusLateness: Distribution {
        var values: [Double] = []
        var next = 0
        var pages = OggPages()
        var arrivals = arrivals[...]
        while let page = pages.next(in: body) {
            while let first = arrivals.first, first.byteCount < page.end { arrivals.removeFirst() }
            guard let arrival = arrivals.first else { break }
            while next < page.lastSample {
                next += 1
                values.append(milliseconds(from: next, to: arrival.time))
            }
        }
        return Distribution(values)
    }

    /// How many samples of a PCM body are those that the card captured, from the first one on.
    var matchingSampleCount: Int {
        (0..<body.count / 2).firstIndex {
            Int16(bitPattern: UInt16(body[2 * $0]) | UInt16(body[2 * $0 + 1]) << 8)
                != VirtualMicrophone.sample(at: $0)
        } ?? body.count / 2
    }

    /// Frame number `count` ends at its capture.
    private func milliseconds(from count: Int, to time: Int64) -> Double {
        Double(time - firstFrameAt - Int64(count) * 62_500) / 1e6
    }
}
