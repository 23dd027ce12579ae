// SPDX-License-Identifier: Apache-2.0

import AudioCodecs
import AudioCore

/// What single stages cost, in this process.
struct StageBenchmarks {
    let report: Report

    /// The frames of a period of 20 ms.
    private static let period = (0..<320).map { VirtualMicrophone.sample(at: $0) / 8 }

    /// Periods through the ring: on one thread, and between two.
    func ring() {
        let bytes = [UInt8](repeating: 7, count: 640)
        let rounds = 1_000_000
        let ring = ByteRing(minimumCapacity: 960_000)
        let producer = ring.takeProducer()
        let consumer = ring.takeConsumer()
        let time = nanoseconds {
            for _ in 0..<rounds {
                _ = producer.write(bytes.span)
                _ = consumer.consume { $0.count }
            }
        }
        report.add("ring, a period of 640 bytes in and out", [("ns", time / Double(rounds))])
    }

    /// A period through each encoder.
    func encoders() throws {
        for format in AudioCodec.allCases {
            let encoder = try format.makeEncoder()
            var output: [UInt8] = []
            output.reserveCapacity(1 << 20)
            try encoder.begin(into: &output)
            let rounds = 3_000
            var failure: (any Error)?
            let time = nanoseconds {
                for round in 0..<rounds {
                    // Different sound each time, or the encoder has an easy life.
                    let frames = Self.period.map { $0 &+ Int16(round % 1_000) }
                    do {
                        try encoder.encode(frames.span, into: &output)
                    } catch {
                        failure = error
                    }
                    if output.count > 1 << 19 { output.removeAll(keepingCapacity: true) }
                }
            }
            if let failure { throw failure }
            report.add(
                "encoder \(format.rawValue), a period of 20 ms",
                [
                    ("us", time / Double(rounds) / 1_000),
                    ("s_per_hour", time / Double(rounds) * 180_000 / 1e9),
                ])
        }
    }

    private func nanoseconds(_ body: () -> Void) -> Double {
        let start = monotonicTime()
        body()
        return Double(monotonicTime() - start)
    }
}
