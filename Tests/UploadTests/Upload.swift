// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore
@testable import Upload

/// A journal in a real file, which the test writes, and a transfer that sends it.
final class Upload: Sendable {
    let journal: Journal
    let recorder = TransferRecorder()
    let loop: TransferLoop
    private let ownsLoop: Bool
    private let folder: TemporaryFolder
    private let id: TransferID
    /// Stops with the last reference to it, of which this may be one.
    private let server: RecordingServer?

    /// Starts a transfer of what the journal holds at once, on a loop of its own if none is given.
    init(
        to url: String, _ bytes: [UInt8] = [], isSealed: Bool = false,
        after pause: Duration = .zero, atLeast: Duration = .zero,
        deadlines: TransferDeadlines = TransferDeadlines(), on sharedLoop: TransferLoop? = nil,
        keeping server: RecordingServer? = nil,
        change: (inout TransferRequest) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        let file = try Folder.make(at: folder.path).createFile("audio.wav")
        journal = Journal(file: PlainFile(file), path: folder.path("audio.wav"))
        loop = try sharedLoop ?? TransferLoop()
        ownsLoop = sharedLoop == nil
        self.server = server
        if !bytes.isEmpty { try journal.append(bytes.span) }
        if isSealed { journal.seal() }
        var request = TransferRequest(
            url: url, headers: [(name: "Content-Type", value: "audio/pcm")],
            body: RequestBody(JournalSource(journal: journal)), deadlines: deadlines)
        change(&request)
        id = loop.start(request, after: pause, atLeast: atLeast, observer: recorder)
    }

    /// Starts a transfer to a server of its own, which takes the first request by these steps.
    static func begin(
        _ recording: [UInt8] = [], isSealed: Bool = false,
        by steps: [ServerStep] = .answer(text: ""),
        after pause: Duration = .zero, atLeast: Duration = .zero,
        deadlines: TransferDeadlines = TransferDeadlines(), holdsConnects: Bool = false,
        receiveBufferBytes: Int32? = nil, change: (inout TransferRequest) -> Void = { _ in }
    ) throws -> (RecordingServer, Upload) {
        let server = try RecordingServer(
            scripts: [steps], connecting: holdsConnects ? .whenReleased : .atOnce,
            receiveBufferBytes: receiveBufferBytes)
        let upload = try Upload(
            to: server.url(), recording, isSealed: isSealed, after: pause, atLeast: atLeast,
            deadlines: deadlines, keeping: server, change: change)
        return (server, upload)
    }

    deinit { if ownsLoop { loop.shutDown() } }

    func append(_ bytes: [UInt8]) throws {
        try journal.append(bytes.span)
        loop.wake()
    }

    func seal() {
        journal.seal()
        loop.wake()
    }

    /// Does what another program might: cuts the file short, while the journal grows.
    func truncateAndGrow(to count: Int) throws {
        try journal.append(bytes(count).span)
        truncate(folder.path("audio.wav"), 0)
        loop.wake()
    }

    func hurry() { loop.hurry(id) }

    func cancel() { loop.cancel(id) }

    func result(within limit: Duration = .patience) async -> TransferResult? {
        await recorder.record.wait(within: limit) { $0.results.first }
    }

    /// Waits for an answer of this status, and of this text if one is given.
    @discardableResult
    func expectAnswer(
        _ status: Int = 200, _ text: String? = nil, at place: SourceLocation = #_sourceLocation
    ) async throws -> TransferResult {
        let result = try #require(await result(), sourceLocation: place)
        #expect(result.ending == .answered, sourceLocation: place)
        #expect(result.status == status, sourceLocation: place)
        if let text { #expect(recorder.text == text, sourceLocation: place) }
        return result
    }

    /// Waits until the connection has taken so many bytes.
    func hasSent(_ byteCount: Int, within limit: Duration = .patience) async -> Bool {
        await recorder.wait(within: limit) { $0.sentByteCount >= byteCount }
    }
}

extension TransferResult {
    /// The reason of an ending that `kind` makes of one; the test fails with any other ending.
    func reason(
        at place: SourceLocation = #_sourceLocation, _ kind: (String) -> Ending
    ) throws -> String {
        let reason = Mirror(reflecting: ending).children.first?.value as? String ?? ""
        try #require(ending == kind(reason), sourceLocation: place)
        return reason
    }
}

struct JournalSource: BodySource {
    let journal: Journal
    var byteCount: Int { journal.byteCount }
    var isComplete: Bool { journal.isComplete }

    func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        if case .bytes(let count) = try journal.read(at: offset, into: buffer) { return count }
        return 0
    }
}

/// Bytes that repeat only after 251, so that a shifted or doubled block is seen.
func bytes(_ count: Int, from start: Int = 0) -> [UInt8] {
    // Doubled rather than counted: unoptimised tests need megabytes of them.
    var pattern: [UInt8] = (0..<251).map { UInt8(($0 + start) % 251) }
    while pattern.count < count { pattern += pattern }
    return Array(pattern[..<count])
}

extension SeededRandom {
    mutating func bytes(_ count: Int) -> [UInt8] {
        let words = (0..<(count + 7) / 8).map { _ in next() }
        return words.withUnsafeBytes { Array($0[..<count]) }
    }
}
