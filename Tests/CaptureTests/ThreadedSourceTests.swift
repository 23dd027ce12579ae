// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioCore
@testable import Capture

/// What a thread of its own reads from a live source, and what becomes of one that hangs.
@Suite struct ThreadedSourceTests {
    private func drivingThread<Outcome: Sendable>(
        _ body: @escaping @Sendable () throws -> Outcome
    ) async throws -> Outcome {
        try await onOwnThread { Result { try body() } }.get()
    }

    @Test func framesGapsAndTheEndComeInTheirOrder() async throws {
        let hidden = ScriptedMicrophone([
            .frames(1_000), .gap(48), .gap(2), .frames(30_000), .frames(7),
        ])
        let source = try ThreadedSource(hidden)
        let (samples, gaps) = try await drivingThread { () throws -> ([Int16], [String]) in
            var (samples, gaps): ([Int16], [String]) = ([], [])
            #expect(try source.open() == .speech)
            while true {
                switch try source.readOnce(room: 1_600, into: &samples) {
                case .frames: break
                case .gap(let frames): gaps.append("\(samples.count): \(frames)")
                case .wait: try source.awaitDescriptors()
                case .end: return (samples, gaps)
                }
            }
        }
        #expect(samples == (0..<31_007).map { Int16(truncatingIfNeeded: $0) })
        #expect(gaps == ["1000: 48", "1000: 2"])
        source.close()
        #expect(hidden.isClosed.isOpen)
    }

    @Test func anErrorComesBehindTheFramesBeforeIt() async throws {
        let lost = CaptureError.deviceLost(device: "scripted", frames: 9, sampleRate: 16_000)
        let source = try ThreadedSource(ScriptedMicrophone([.frames(9), .failure(lost)]))
        let count = try await drivingThread { () throws -> Int in
            var samples: [Int16] = []
            _ = try source.open()
            while true {
                do throws(CaptureError) {
                    if case .wait = try source.readOnce(room: 1_600, into: &samples) {
                        try? source.awaitDescriptors()  // The next read says it.
                    }
                } catch {
                    #expect(error == lost)
                    return samples.count
                }
            }
        }
        #expect(count == 9)
        source.close()
    }

    @Test func aDriverThatHangsIsGivenUpAndLeftToItself() async throws {
        let hidden = ScriptedMicrophone([.frames(320), .hang])
        let source = try ThreadedSource(hidden, patience: .milliseconds(50))
        let (count, failure) = try await drivingThread { () throws -> (Int, CaptureError?) in
            var samples: [Int16] = []
            _ = try source.open()
            _ = hidden.hangs.waitBlocking()
            while true {
                do throws(CaptureError) {
                    if case .wait(.forDescriptorsOrUntil(let instant)) = try source.readOnce(
                        room: 1_600, into: &samples)
                    {
                        source.wait(until: instant)
                    }
                } catch {
                    return (samples.count, error)
                }
            }
        }
        #expect(count == 320)
        #expect(failure == .deviceHangs(device: "scripted", seconds: 0))
        await onOwnThread { source.close() }
        #expect(!hidden.isClosed.isOpen)
        hidden.goesOn.open()
        #expect(await hidden.isClosed.wait())
    }

    @Test func aStopIsAskedForOnTheThreadOfTheSource() async throws {
        let hidden = ScriptedMicrophone([.frames(16), .idle])
        let source = try ThreadedSource(hidden)
        let samples = try await drivingThread { () throws -> [Int16] in
            var samples: [Int16] = []
            _ = try source.open()
            while true {
                switch try source.readOnce(room: 1_600, into: &samples) {
                case .frames: source.requestStop()
                case .wait: try source.awaitDescriptors()
                case .gap: break
                case .end: return samples
                }
            }
        }
        #expect(samples.count == 16)
        source.close()
        #expect(await hidden.isClosed.wait())
    }
}

extension CaptureSource {
    /// Waits for the descriptors, and no longer than until an instant.
    fileprivate func wait(until instant: ContinuousClock.Instant) {
        var descriptors: [pollfd] = []
        appendPollDescriptors(to: &descriptors)
        let rest = max(.zero, instant - .now)
        _ = poll(&descriptors, nfds_t(descriptors.count), Int32(rest / .milliseconds(1)) + 1)
    }
}

/// A microphone that does what a test has written down, and counts its frames up.
private final class ScriptedMicrophone: CaptureSource, @unchecked Sendable {
    enum Step {
        case frames(Int)
        case gap(Int)
        case failure(CaptureError)
        /// Nothing comes until a stop is asked for.
        case idle
        /// A read does not return until the test says so.
        case hang
    }

    let name = "scripted"
    let isLive = true
    let (hangs, goesOn, isClosed) = (Gate(), Gate(), Gate())
    private var steps: ArraySlice<Step>
    private var next = 0
    private var isStopped = false

    init(_ steps: [Step]) { self.steps = steps[...] }

    func open() throws(CaptureError) -> StreamFormat { .speech }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        switch isStopped ? nil : steps.first {
        case .frames(let left):
            let count = min(left, frames.count)
            for index in 0..<count {
                frames[index] = Int16(truncatingIfNeeded: next)
                next += 1
            }
            steps.removeFirst()
            if left > count { steps = [.frames(left - count)] + steps }
            return .frames(count)
        case .gap(let count):
            steps.removeFirst()
            return .gap(frames: count)
        case .failure(let error): throw error
        case .idle: return .wait(.forDescriptors)
        case .hang:
            hangs.open()
            _ = goesOn.waitBlocking()
        case nil: break
        }
        return .end
    }

    func appendPollDescriptors(to descriptors: inout [pollfd]) {}
    func requestStop() { isStopped = true }
    func close() { isClosed.open() }
}
