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
        let source = FileReplay.samples(
            of: pipe.readEnd, name: "standard input", rawFormat: stereo, pace: .unpaced)
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

    @Test func bytesAtTheEndThatAreNoFrameAreReported() throws {
        let pipe = try TestPipe([1, 0, 2, 0, 7, 7, 7])
        let source = FileReplay.samples(
            of: pipe.readEnd, name: "pipe", rawFormat: stereo, pace: .unpaced)
        #expect(try source.record().samples == [1, 2])
        #expect(
            source.warning == "the last 3 bytes of 'pipe' are less than a frame and left out")
        let odd = try TestPipe([1, 0, 7])
        let single = FileReplay.samples(
            of: odd.readEnd, name: "pipe", rawFormat: .speech, pace: .unpaced)
        #expect(try single.record().samples == [1])
        #expect(single.warning == "the last byte of 'pipe' is less than a frame and left out")
    }

    @Test func everySampleArrivesHoweverThePipeAndTheReaderDivideThem() throws {
        var random = SeededRandom()
        for _ in 0..<50 {
            let samples = random.noise(count: 2 * Int.random(in: 0...9_000, using: &random))
            let bytes = WAVBytes.pcm(samples)
            let pipe = try TestPipe()
            let room = Int.random(in: 2...3_000, using: &random)
            let source = FileReplay.samples(
                of: pipe.readEnd, name: "pipe", rawFormat: stereo, pace: .unpaced)
            _ = try source.open()
            var received: [Int16] = []
            for piece in random.pieces(of: bytes.count, upTo: 4_000) where !piece.isEmpty {
                try pipe.write(Array(bytes[piece]))
                while case .frames = try source.readOnce(
                    room: room, channelCount: 2, into: &received)
                {}
            }
            pipe.closeWriteEnd()
            while case .frames = try source.readOnce(
                room: room, channelCount: 2, into: &received)
            {}
            #expect(received == samples, "seed \(random.seed)")
            source.close()
        }
    }

    @Test func aRegularFileIsAlwaysReadyAndItsPrefixIsNotPlayedTwice() throws {
        let folder = try TemporaryFolder()
        let samples = TestSignal.voice(frames: 50_000, sampleRate: 16_000)
        let path = try folder.write(WAVBytes.pcm(samples), to: "audio.raw")
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        var prefix = [UInt8](repeating: 0, count: 4)
        try #require(Glibc.read(file, &prefix, 4) == 4)
        let source = FileReplay.samples(
            of: file, name: "file", rawFormat: .speech, pace: .unpaced, prefix: prefix)
        let recorded = try source.record()
        #expect(recorded.samples == samples)
        var descriptors: [pollfd] = []
        source.appendPollDescriptors(to: &descriptors)
    }

    @Test func aPrefixComesBeforeThePipe() throws {
        let pipe = try TestPipe([3, 0])
        let source = FileReplay.samples(
            of: pipe.readEnd, name: "pipe", rawFormat: .speech, pace: .unpaced,
            prefix: [1, 0, 2, 0])
        #expect(try source.record().samples == [1, 2, 3])
    }

    @Test func theDescriptorStaysBlockingForThoseWhoShareIt() throws {
        let pipe = try TestPipe([1, 0])
        let before = fcntl(pipe.readEnd, F_GETFL)
        let source = FileReplay.samples(
            of: pipe.readEnd, name: "pipe", rawFormat: .speech, pace: .unpaced)
        _ = try source.record()
        #expect(fcntl(pipe.readEnd, F_GETFL) == before)
    }

    @Test func aStopEndsTheInputAtOnce() throws {
        let pipe = try TestPipe()
        let source = FileReplay.samples(
            of: pipe.readEnd, name: "pipe", rawFormat: .speech, pace: .unpaced)
        _ = try source.open()
        var received: [Int16] = []
        try pipe.write([1, 0])
        #expect(try source.readOnce(room: 10, into: &received) == .frames(1))
        try pipe.write([2, 0])
        source.requestStop()
        #expect(try source.readOnce(room: 10, into: &received) == .end)
        #expect(received == [1])
    }

    @Test func whatCannotBeReadSaysWhy() throws {
        let closed = FileReplay.samples(of: 987_654, name: "it", rawFormat: .speech, pace: .unpaced)
        #expect(throws: CaptureError.cannotOpen(name: "it", reason: "Bad file descriptor")) {
            try closed.open()
        }
        let pipe = try TestPipe()
        let silent = StreamFormat(sampleRate: 0, channelCount: 0)
        #expect(throws: CaptureError.unusableAudio(name: "it", detail: "0 Hz and 0 channels")) {
            try FileReplay.samples(of: pipe.readEnd, name: "it", rawFormat: silent, pace: .unpaced)
                .open()
        }
    }
}
