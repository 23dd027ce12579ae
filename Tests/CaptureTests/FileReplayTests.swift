// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Capture

/// A file is taken for what it is.
@Suite struct FileReplayTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(arguments: [Pace.unpaced, .times(1_000)])
    func aWAVFileIsReplayedWhole(_ pace: Pace) throws {
        let samples = TestSignal.voice(frames: 16_100, sampleRate: 16_000)
        let path = try folder.write(WAVBytes.speech(samples), to: "voice")
        let source = FileReplay(path: path, pace: pace)
        #expect(source.name == path)
        _ = try source.open()
        #expect(source.isStored == (pace == .unpaced))
        source.close()
        let recorded = try FileReplay(path: path, pace: .unpaced).record()
        #expect(recorded.samples == samples)
    }

    @Test func aFIFOIsLookedAtOnce() throws {
        let samples = TestSignal.voice(frames: 4_000, sampleRate: 16_000)
        let path = folder.path("fifo")
        try #require(mkfifo(path, 0o600) == 0)
        let holder = Glibc.open(path, O_RDWR | O_CLOEXEC)
        try #require(holder >= 0)
        let bytes = WAVBytes.speech(samples)
        try #require(Glibc.write(holder, bytes, bytes.count) == bytes.count)
        let source = FileReplay(path: path, pace: .unpaced)
        _ = try source.open()
        let reader = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        close(holder)
        // A program that another test starts has a copy of the writing end for a moment.
        var ends = pollfd(fd: reader, events: 0, revents: 0)
        poll(&ends, 1, Int32(Duration.patience.components.seconds) * 1_000)
        close(reader)
        var received: [Int16] = []
        while case .frames = try source.readOnce(room: 4_096, into: &received) {}
        #expect(received == samples)
        source.close()
    }

    @Test func whatItIsNotIsSaid() throws {
        let other = try folder.write(Array("FORM, and so on".utf8), to: "a.wav")
        #expect(throws: CaptureError.foreignAudio(name: other, kind: "AIFF")) {
            try FileReplay(path: other).open()
        }
        let text = try folder.write(Array("hello, this is not audio".utf8), to: "text.wav")
        #expect(
            throws: CaptureError.unusableAudio(
                name: text, detail: "this is no audio: it begins like text, with 'hell'")
        ) {
            try FileReplay(path: text).open()
        }
        let empty = try folder.write([], to: "empty.wav")
        #expect(
            throws: CaptureError.unusableAudio(
                name: empty, detail: "it is empty")
        ) {
            try FileReplay(path: empty).open()
        }
        #expect(throws: CaptureError.cannotOpen(name: folder.path, reason: "it is a folder")) {
            try FileReplay(path: folder.path).open()
        }
    }

    @Test func aFileThatMayNotBeReadSaysNothingOfSoundCards() throws {
        let error = CaptureError.fileForbidden(path: "a.wav")
        #expect(error.description == "cannot open 'a.wav': permission denied")
    }
}
