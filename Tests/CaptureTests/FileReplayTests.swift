// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Capture
@testable import LinuxPlatform

/// A file or a pipe is taken for what it is.
@Suite struct FileReplayTests {
    private static let format = WAVBytes.chunk("fmt ", WAVBytes.format())
    private let folder: TemporaryFolder
    private let samples = TestSignal.voice(frames: 4_000, sampleRate: 16_000)

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(arguments: [Pace.unpaced, .times(1_000)])
    func aFileIsStoredUnlessItStandsForAVoice(_ pace: Pace) throws {
        let path = try folder.write(WAVBytes.speech(samples), to: "voice")
        let source = FileReplay(path: path, pace: pace)
        #expect(source.name == path)
        _ = try source.open()
        #expect(source.isStored == (pace == .unpaced))
        source.close()
        #expect(try FileReplay(path: path, pace: .unpaced).record().samples == samples)
    }

    /// The system says of no file in memory what it has of it (preadv2(2)), as of none on a network.
    @Test(arguments: [0, 4_000, 100_000])
    func aDiskIsNotWaitedForByTheThreadThatReads(_ frames: Int) throws {
        let samples = TestSignal.voice(frames: frames, sampleRate: 16_000)
        let bytes = WAVBytes.speech(samples) + WAVBytes.chunk("LIST", [1, 2, 3])
        let file = try makeMemoryFile(bytes)
        let source = FileReplay.samples(of: file.number, name: "a.wav", pace: .unpaced)
        _ = try source.open()
        var received: [Int16] = []
        var waits = 0
        while true {
            let read = try source.readOnce(room: 1_600, into: &received)
            if read == .end { break }
            guard case .wait(let wait) = read else { continue }
            #expect(wait == .forDescriptors)
            waits += 1
            try source.awaitDescriptors()
        }
        source.close()
        #expect(received == samples)
        // A thread reads 64 KiB at once behind the first 4, and one more finds the end; either may be
        // done before it is awaited.
        #expect(waits <= (bytes.count > 4_096 ? 2 + bytes.count / 65_536 : 0))
        var room = [UInt8](repeating: 0, count: 16)
        #expect(DiskRead.present(in: file.number, at: 0, into: &room, 0..<16) == nil)
        #expect(lseek(file.number, 0, SEEK_CUR) == 0)
    }

    @Test func aSourceThatIsClosedWhileItsDiskIsLateLeavesNothingOpen() throws {
        let samples = TestSignal.voice(frames: 4_000, sampleRate: 16_000)
        let file = try makeMemoryFile(WAVBytes.speech(samples))
        let source = FileReplay.samples(of: file.number, name: "a.wav", pace: .unpaced)
        _ = try source.open()
        var received: [Int16] = []
        while case .frames = try source.readOnce(room: 1_600, into: &received) {}
        source.close()
        #expect(try source.readOnce(room: 1_600, into: &received) == .end)
        #expect(try source.record().samples == samples)
    }

    /// It ends with its writer, and at the length that it says.
    @Test(arguments: [true, false]) func aFIFOIsLookedAtOnce(_ writerLeaves: Bool) throws {
        let path = folder.path("fifo")
        try #require(mkfifo(path, 0o600) == 0)
        let writer = Glibc.open(path, O_RDWR | O_CLOEXEC)
        try #require(writer >= 0)
        let bytes = WAVBytes.speech(samples)
        try #require(Glibc.write(writer, bytes, bytes.count) == bytes.count)
        let source = FileReplay(path: path, pace: .unpaced)
        #expect(!source.isStored)
        _ = try source.open()
        if writerLeaves {
            let reader = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            close(writer)
            // A program that another test starts has a copy of the writing end for a moment.
            var ends = pollfd(fd: reader, events: 0, revents: 0)
            poll(&ends, 1, Int32(Duration.patience.components.seconds) * 1_000)
            close(reader)
        }
        var received: [Int16] = []
        var read = SourceRead.frames(0)
        let limit = ContinuousClock.now + .patience
        while read != .end, .now < limit {
            read = try source.readOnce(room: 4_096, into: &received)
            if case .wait = read { poll(nil, 0, 20) }
        }
        #expect(received == samples)
        source.close()
        if !writerLeaves { close(writer) }
    }

    @Test func whatCannotBeOpenedSaysWhy() throws {
        let missing = folder.path("missing.wav")
        #expect(throws: CaptureError.cannotOpen(name: missing, reason: "No such file or directory"))
        {
            try FileReplay(path: missing).open()
        }
        #expect(throws: CaptureError.cannotOpen(name: folder.path, reason: "it is a folder")) {
            try FileReplay(path: folder.path).open()
        }
        let text = try folder.write(Array("hello, this is not audio".utf8), to: "b.wav")
        #expect(throws: CaptureError.notSound(name: text, kind: "text")) {
            try FileReplay(path: text).open()
        }
        let other = try folder.write(Array("FORM, and so on".utf8), to: "a.wav")
        #expect(throws: CaptureError.foreignAudio(name: other, kind: "AIFF")) {
            try FileReplay(path: other).open()
        }
    }

    @Test(
        arguments: [
            ([], "it is empty"),
            (Array(WAVBytes.speech([]).prefix(30)), "byte 30: the file ends before its data chunk"),
            (
                WAVBytes.file([format, WAVBytes.chunk("LIST", [1], claimed: 1 << 31)]),
                "byte 46: the file ends before its data chunk"
            ),
        ] as [([UInt8], String)])
    func whatIsNoAudioSaysWhy(_ bytes: [UInt8], _ detail: String) throws {
        let path = try folder.write(bytes, to: "a.wav")
        #expect(throws: CaptureError.unusableAudio(name: path, detail: detail)) {
            try FileReplay(path: path).open()
        }
        let pipe = try TestPipe(bytes)
        #expect(throws: CaptureError.unusableAudio(name: "pipe", detail: detail)) {
            try FileReplay.samples(of: pipe.readEnd, name: "pipe", pace: .realTime).open()
        }
    }
}
