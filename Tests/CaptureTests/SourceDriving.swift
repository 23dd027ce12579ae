// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioCodecs
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
    /// Frames that are to become silence.
    var lostFrameCount = 0
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
            case .gap(let count):
                #expect(count > 0)
                recorded.lostFrameCount += count
            case .end:
                return recorded
            }
        }
    }

    /// Waits for the source's descriptors, for as long as tests are patient.
    func awaitDescriptors() throws {
        var events = PolledDescriptors()
        addDescriptors(to: &events)
        try #require(events.count > 0)
        let limit = ContinuousClock.now + .patience
        while !events.wait(.until(limit)) { try #require(limit > .now, "nothing came") }
    }
}

extension FileReplay {
    /// Raw samples in a pipe, which nothing holds back.
    static func raw(
        _ pipe: TestPipe, _ format: StreamFormat, name: String = "pipe"
    ) -> FileReplay {
        .samples(of: pipe.readEnd, name: name, rawFormat: format, pace: .unpaced)
    }
}

/// The file that our encoder makes of a voice.
func oggOpus(_ samples: [Int16]) throws -> [UInt8] {
    var bytes: [UInt8] = []
    let encoder = try OggOpusEncoder()
    try encoder.begin(into: &bytes)
    try encoder.encode(samples.span, into: &bytes)
    try encoder.finish(into: &bytes)
    return bytes
}

/// The samples of a WAV file as we write them.
func pcm(_ bytes: [UInt8]) -> [Int16] {
    stride(from: WAVEncoder.headerByteCount, to: bytes.count - 1, by: 2).map {
        Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
    }
}

extension ByteRing.Consumer {
    /// Appends all that is there.
    func takeAll(into bytes: inout [UInt8]) {
        while consume({ span in
            for index in span.indices { bytes.append(span[index]) }
            return span.count
        }) > 0 {}
    }
}
