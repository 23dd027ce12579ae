// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import RecognitionEndpoint

/// How a body's bytes are handed over and become samples.
@Suite struct BodyTests {
    // MARK: - Decoding

    private func decode(
        _ bytes: [UInt8], _ type: AudioMediaType, in pieces: [Range<Int>]
    ) throws -> [Int16] {
        var decoder = try BodyDecoder(type)
        var samples: [Int16] = []
        for piece in pieces {
            try decoder.decode(bytes.span.extracting(piece), into: &samples)
        }
        try decoder.finish(into: &samples)
        return samples
    }

    @Test func bytesOneByOneGiveTheSamplesOfTheFile() throws {
        for name in ["go-forward", "jfk"] {
            let wav = try Samples.wav(name)
            let path = "\(Samples.folder)/\(name).wav"
            let expected = try ForeignTool("sox").run([path, "-t", "s16", "-"]).samples
            #expect(try decode(wav, .file(.wav), in: wav.indices.map { $0..<$0 + 1 }) == expected)
        }
    }

    @Test(arguments: [8, 24, 32])
    func samplesCutInTheirMiddleAreWhole(bits: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("audio.wav")
        try ForeignTool("sox").run(["\(Samples.folder)/go-forward.wav", "-b", "\(bits)", path])
        let wav = try folder.read("audio.wav")
        var random = SeededRandom()
        let pieces = random.pieces(of: wav.count, upTo: 500)
        let whole = try decode(wav, .file(.wav), in: [wav.indices])
        #expect(try decode(wav, .file(.wav), in: pieces) == whole, "seed \(random.seed)")
        #expect(whole.count == 44_580)
    }

    @Test func aHalfSampleAtTheEndIsDropped() throws {
        let type = AudioMediaType.pcm(.speech, isBigEndian: true)
        #expect(try decode([1, 2, 3], type, in: [0..<3]) == [0x0102])
    }

    // MARK: - Queue

    @Test func aFullQueueMakesTheConnectionWait() async throws {
        let queue = try BodyQueue(capacity: 100)
        let (steps, step) = AsyncStream.makeStream(of: Int.self)
        let producer = Task {
            for number in 1...3 {
                await queue.append([UInt8](repeating: UInt8(number), count: 100))
                step.yield(number)
            }
            queue.finish()
            step.finish()
        }
        // Each step follows from space that was made, and none comes before.
        var iterator = steps.makeAsyncIterator()
        var bytes: [UInt8] = []
        for number in 1...3 {
            let taken = try await onThread { queue.take() }
            guard case .bytes(let chunk) = taken else {
                Issue.record("\(taken)")
                return
            }
            bytes += chunk
            #expect(await iterator.next() == number)
        }
        #expect(bytes.count == 300)
        let last = try await onThread { queue.take() }
        guard case .end = last else {
            Issue.record("\(last)")
            return
        }
        await producer.value
    }

    @Test func aFailureOvertakesWhatWasNotTaken() async throws {
        let queue = try BodyQueue()
        await queue.append([1, 2, 3])
        queue.fail(.brokenOff)
        queue.finish()
        guard case .failed(.brokenOff) = queue.take() else {
            Issue.record("the queue went on")
            return
        }
    }

    @Test func aClosedQueueDropsWhatComesWithoutWaiting() async throws {
        let queue = try BodyQueue(capacity: 1)
        await queue.append([])
        queue.close()
        // Of an open queue each of these would wait for the one before to be taken.
        await queue.append([1, 2, 3])
        await queue.append([1, 2, 3])
        queue.finish()
        guard case .end = queue.take() else {
            Issue.record("bytes were kept")
            return
        }
    }

    // MARK: - Events

    @Test func aNewPartialTextReplacesOneThatNobodyRead() async {
        let events = RecognitionEvents()
        let newer = PartialRecognition(text: "b", time: 2)
        events.post(.partial(PartialRecognition(text: "a", time: 1)))
        events.post(.partial(newer))
        #expect(await events.next() == .partial(newer))
        events.post(.partial(newer))
        events.post(.final(Recognition()))
        #expect(await events.next() == .final(Recognition()))
    }
}
