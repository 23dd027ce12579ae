// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import AudioCodecs
@testable import Cryptography
@testable import TakeStore
@testable import Utter

/// What a program has left that died with a take in hand.
struct LeftTake {
    let folder: TemporaryFolder
    let store: TakeStore
    let id: TakeID

    init(key: EncryptionKey? = nil) throws {
        folder = try TemporaryFolder()
        store = try TakeStore(stateFolder: folder.path("state"), key: key)
        id = try #require(TakeID("20261121-060000-abcdefghjkmn"))
    }

    func path(_ name: String) -> String { "state/takes/\(id.text)/\(name)" }

    /// Leaves the audio, and a manifest unless the program died before it.
    func leave(
        _ audio: [UInt8], _ format: AudioCodec = .wav, in name: String? = nil,
        hasManifest: Bool = true, change: (inout TakeManifest) -> Void = { _ in }
    ) throws {
        let name = name ?? "audio.\(format.fileExtension)"
        let take = try store.makeTake(id)
        // Said, because a child of another test may hold the descriptor until it executes.
        defer { take.unlock() }
        try folder.write(audio, to: path(name))
        guard hasManifest else { return }
        var manifest = TakeManifest(
            id: id, created: Date(), audio: name, format: format.name, source: "default",
            url: "http://service")
        change(&manifest)
        try take.save(manifest)
    }

    /// An encrypted file of the take, made of these appends, and where the frame of each begins.
    func encrypted(_ appends: [[UInt8]], _ name: String) throws -> (file: [UInt8], starts: [Int]) {
        let template = try TakeStore(stateFolder: folder.path("template"), key: store.key)
        let journal = try template.makeTake(id).makeJournal(fileName: name)
        for append in appends { try journal.append(append.span) }
        let file = try folder.read("template/takes/\(id.text)/\(name)")
        return (file, appends.reduce(into: [120]) { $0.append($0[$0.count - 1] + $1.count + 28) })
    }

    var manifest: TakeManifest { get throws { try store.take(id).manifest() } }

    var fileNames: [String] { get throws { try store.take(id).fileNames() } }

    /// Recovers the take, after which there is nothing more to do.
    func recovered() throws -> TakeManifest {
        #expect(try store.recoverUnlocked() == [id])
        #expect(try store.recoverAll() == [])
        return try manifest
    }
}

extension AudioCodec {
    /// The whole file that samples make.
    func file(of samples: [Int16]) throws -> [UInt8] {
        let encoder = try makeEncoder()
        var bytes: [UInt8] = []
        try encoder.begin(into: &bytes)
        try encoder.encode(samples.span, into: &bytes)
        try encoder.finish(into: &bytes)
        return bytes
    }

    /// What a whole file decodes to.
    func samples(of file: [UInt8]) throws -> [Int16] {
        let decoder = makeDecoder()
        var samples: [Int16] = []
        try decoder.decode(file.span, into: &samples)
        try decoder.finish(into: &samples)
        return samples
    }
}
