// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioCore
@testable import Capture
@testable import LinuxPlatform

/// One delivery of a source.
struct Delivery: Equatable {
    let frameCount: Int
    let elapsed: Duration
}

/// What a source delivered until its end.
struct Recorded {
    var format = StreamFormat.speech
    var samples: [Int16] = []
    var deliveries: [Delivery] = []
}

extension CaptureSource {
    /// One read with room for `room` samples; appends what it delivered.
    func readOnce(
        room: Int, channelCount: Int = 1, into samples: inout [Int16]
    ) throws(CaptureError) -> SourceRead {
        var buffer = [Int16](repeating: 0, count: room)
        var span = buffer.mutableSpan
        let result = try read(into: &span)
        if case .frames(let count) = result { samples += buffer[..<(count * channelCount)] }
        return result
    }

    /// Drives the source as the capture loop does, moving `clock` where the loop would sleep.
    func record(clock: ManualClock = ManualClock(), room: Int = 65_536) throws -> Recorded {
        var recorded = Recorded()
        recorded.format = try open()
        defer { close() }
        while true {
            let result = try readOnce(
                room: room, channelCount: recorded.format.channelCount, into: &recorded.samples)
            switch result {
            case .frames(let count):
                #expect(count > 0)
                recorded.deliveries.append(Delivery(frameCount: count, elapsed: clock.elapsed))
            case .wait(.until(let instant)):
                #expect(instant > clock.now())
                clock.advance(to: instant)
            case .wait(.forDescriptors), .wait(.forDescriptorsOrUntil):
                try awaitDescriptors()
            case .gap:
                Issue.record("a gap in a recording")
            case .end:
                return recorded
            }
        }
    }

    /// Waits for the source's descriptors, for as long as tests are patient.
    func awaitDescriptors() throws {
        var descriptors: [pollfd] = []
        appendPollDescriptors(to: &descriptors)
        try #require(!descriptors.isEmpty)
        let limit = Int32(Duration.patience.components.seconds) * 1_000
        let count = try retryingInterrupts("poll") {
            poll(&descriptors, nfds_t(descriptors.count), limit)
        }
        try #require(count > 0, "nothing came")
    }
}
