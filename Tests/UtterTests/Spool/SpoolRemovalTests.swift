// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore
@testable import Utter

/// How takes leave a spool and come back, and what is copied of them.
@Suite struct SpoolRemovalTests {
    private let bench: SpoolBench

    init() throws { bench = try SpoolBench() }

    @Test func aRemovedTakeComesBackAsItWas() throws {
        let takes = try (1...2).map { try bench.keep($0) }
        for take in takes { #expect(try bench.spool.remove(take.id)) }
        #expect(try bench.spool.takes().isEmpty)
        // One tick of the clock may be that of both.
        #expect(Set(try bench.spool.removedTakes().map(\.id)) == Set(takes.map(\.id)))
        let back = try bench.spool.undoRemove("abcdefghjk11")
        #expect(back.id == takes[0].id && back.audioPath != nil)
        #expect(try bench.spool.undoRemove().id == takes[1].id)
        #expect(try bench.spool.takes(where: .due).count == 2)
        #expect(throws: TakeStoreError.notRemoved(nil)) { try bench.spool.undoRemove() }
    }

    @Test func theTakeRemovedLastComesBackFirst() throws {
        let takes = try (1...2).map { try bench.keep($0) }
        let now = time(nil)
        for (take, tenths) in [(takes[1], 2), (takes[0], 7)] {
            try bench.spool.remove(take.id)
            let time = timespec(tv_sec: now, tv_nsec: tenths * 100_000_000)
            let path = bench.folder.path("state/removed/\(take.id.text)")
            try #require(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
        }
        #expect(try bench.spool.undoRemove().id == takes[0].id)
    }

    @Test func whatIsRemovedForGoodIsGoneAlsoIfItWasRemovedBefore() throws {
        let takes = try (1...3).map { try bench.keep($0) }
        #expect(try !bench.spool.remove(takes[0].id, forGood: true))
        #expect(try bench.spool.removedTakes().isEmpty)
        try bench.spool.remove(takes[1].id)
        #expect(try !bench.spool.remove(takes[1].id, forGood: true))
        #expect(try bench.spool.removedTakes().isEmpty)
        #expect(throws: TakeStoreError.noSuchTake(takes[1].id.text)) {
            try bench.spool.remove(takes[1].id, forGood: true)
        }
        try bench.spool.remove(takes[2].id)
        #expect(throws: TakeStoreError.notRemoved("2099")) { try bench.spool.undoRemove("2099") }
    }

    @Test func fromAShortDiskATakeIsRemovedForGood() throws {
        let full = try SpoolBench(limits: SpoolLimits(takes: 1, bytes: 1, free: .max))
        let take = try full.keep(1)
        #expect(try !full.spool.remove(take.id))
        #expect(try full.spool.removedTakes().isEmpty)
    }

    @Test func aTakeWithAPersonsOwnFileInItStays() throws {
        let take = try bench.keep(1)
        try bench.folder.write([1], to: "state/takes/\(take.id.text)/notes.txt")
        #expect(throws: TakeStoreError.self) { try bench.spool.remove(take.id) }
        #expect(try bench.spool.takes().count == 1)
    }

    @Test(arguments: ["pcm", "ogg-opus", "flac"])
    func anExportedWAVHasItsTrueLength(_ format: String) throws {
        let codec = try #require(AudioCodec(rawValue: format))
        let encoder = try codec.makeEncoder()
        let samples = TestSignal.voice(frames: 16_000, sampleRate: 16_000)
        var audio: [UInt8] = []
        try encoder.begin(into: &audio)
        try encoder.encode(samples.span, into: &audio)
        try encoder.finish(into: &audio)
        let name = "audio.\(codec.fileExtension)"
        let take = try bench.keep(1) { manifest in
            manifest.audio = name
            manifest.format = format
            manifest.byteCount = audio.count
            try bench.folder.write(audio, to: "state/takes/\(manifest.id.text)/\(name)")
        }
        let path = bench.folder.path("out.wav")
        #expect(try bench.spool.export(take, to: path) == nil)
        let wav = try readFile(path)
        #expect(wav.count == 44 + 32_000)
        let length = wav[40..<44].reversed().reduce(0) { $0 << 8 | Int($1) }
        #expect(length == 32_000)
        if format != "ogg-opus" { #expect(Array(wav[44...]) == WAVBytes.pcm(samples)) }
        // What exists is never overwritten.
        let error = #expect(throws: SystemError.self) { try bench.spool.export(take, to: path) }
        #expect(error?.code == EEXIST)
        // Without a known ending it is the file itself.
        try bench.spool.export(take, to: bench.folder.path("copy"))
        #expect(try readFile(bench.folder.path("copy")) == audio)

        var read = try bench.spool.samples(of: take)
        var (all, some): ([Int16], [Int16]) = ([], [])
        while try read.next(into: &some) { all += some }
        #expect(all.count == samples.count)
        if format != "ogg-opus" { #expect(all == samples) }
    }

    @Test func aFileIsNotNamedAfterAFormThatItHasNot() throws {
        let take = try bench.keep(1)
        let path = bench.folder.path("out.mp3")
        #expect(
            throws: TakeStoreError.misnamed(
                take: take.id.text, file: path, holds: AudioCodec.pcm.title)
        ) { try bench.spool.export(take, to: path) }
        #expect(throws: (any Error).self) { try readFile(path) }
    }
}
