// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioCore
@testable import Capture

@Suite struct RawInputTests {
    private let stereo = StreamFormat(sampleRate: 48_000, channelCount: 2)

    @Test func framesAreDeliveredAsTheyComeAndPartsOfFramesWait() throws {
        let pipe = try TestPipe()
        let source = FileReplay.raw(pipe, stereo)
        #expect(try source.open() == stereo)
        defer { source.close() }
        var received: [Int16] = []
        func read() throws -> SourceRead {
            try source.readOnce(room: 1_000, channelCount: 2, into: &received)
        }
        #expect(try read() == .wait(.forDescriptors))
        try pipe.write([1, 0, 2])
        #expect(try read() == .wait(.forDescriptors))
        try pipe.write([0, 3, 0, 4, 0, 5])
        #expect(try read() == .frames(2))
        #expect(try read() == .wait(.forDescriptors))
        try pipe.write([0, 6, 0])
        pipe.closeWriteEnd()
        #expect(try read() == .frames(1))
        #expect(try read() == .end)
        #expect(received == [1, 2, 3, 4, 5, 6])
        #expect(source.warning == nil)
    }

    @Test(
        arguments: [
            (2, [1, 0, 2, 0, 7, 7, 7], [1, 2]), (2, [1, 0, 2, 0, 7, 7], [1, 2]),
            (1, [1, 0, 7], [1]),
        ] as [(Int, [UInt8], [Int16])])
    func bytesAtTheEndThatAreNoFrameAreReported(
        _ channels: Int, _ bytes: [UInt8], _ samples: [Int16]
    ) throws {
        let pipe = try TestPipe(bytes)
        let flags = fcntl(pipe.readEnd, F_GETFL)
        let source = FileReplay.raw(pipe, channels == 2 ? stereo : .speech)
        #expect(try source.record().samples == samples)
        #expect(source.warning == "'pipe' ends within a frame")
        // The descriptor stays blocking for those who share it.
        #expect(fcntl(pipe.readEnd, F_GETFL) == flags)
    }

    @Test func everySampleArrivesHoweverThePipeAndTheReaderDivideThem() throws {
        var random = SeededRandom()
        for _ in 0..<50 {
            let samples = random.noise(count: 2 * Int.random(in: 0...9_000, using: &random))
            let bytes = WAVBytes.pcm(samples)
            let pipe = try TestPipe()
            let room = Int.random(in: 2...3_000, using: &random)
            let source = FileReplay.raw(pipe, stereo)
            _ = try source.open()
            var received: [Int16] = []
            func readAll() throws {
                while case .frames = try source.readOnce(
                    room: room, channelCount: 2, into: &received)
                {}
            }
            for piece in random.pieces(of: bytes.count, upTo: 4_000) where !piece.isEmpty {
                try pipe.write(Array(bytes[piece]))
                try readAll()
            }
            pipe.closeWriteEnd()
            try readAll()
            #expect(received == samples, "seed \(random.seed)")
            source.close()
        }
    }

    /// More than is read ahead at once, and less than there is room for.
    @Test func aRegularFileIsReadWhole() throws {
        let folder = try TemporaryFolder()
        let samples = TestSignal.voice(frames: 50_000, sampleRate: 16_000)
        let path = try folder.write(WAVBytes.pcm(samples), to: "audio.raw")
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { Glibc.close(file) }
        lseek(file, 4, SEEK_SET)
        let source = FileReplay.samples(
            of: file, name: "file", rawFormat: .speech, pace: .unpaced,
            prefix: Array(WAVBytes.pcm(samples).prefix(4)))
        #expect(try source.record().samples == samples)
    }

    @Test func whatCannotBeReadSaysWhy() throws {
        let closed = FileReplay.samples(of: 987_654, name: "it", rawFormat: .speech, pace: .unpaced)
        #expect(throws: CaptureError.cannotOpen(name: "it", reason: "Bad file descriptor")) {
            try closed.open()
        }
        let pipe = try TestPipe()
        let silent = StreamFormat(sampleRate: 0, channelCount: 0)
        #expect(throws: CaptureError.unusableAudio(name: "it", detail: "0 Hz and 0 channels")) {
            try FileReplay.raw(pipe, silent, name: "it").open()
        }
    }
}
