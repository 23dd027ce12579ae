// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import AudioCodecs
@testable import Cryptography
@testable import TakeStore
@testable import Utter

/// Each test builds what a program left that died while it recorded an encrypted take.
@Suite struct EncryptedRecoveryTests {
    private let folder: TemporaryFolder
    private let key: EncryptionKey
    private let id: TakeID

    init() throws {
        folder = try TemporaryFolder()
        key = try EncryptionKey(bytes: Array(1...32))
        id = try #require(TakeID("20261121-060000-abcdefghjkmn"))
    }

    private func store(_ name: String = "state") throws -> TakeStore {
        try TakeStore(stateFolder: folder.path(name), key: key)
    }

    private static let name = "audio.wav.encrypted"

    /// The file of a take of 32 bytes an append, after its header of 44.
    private func audio(_ appends: [[UInt8]]) throws -> [UInt8] {
        let take = try store("template").makeTake(id)
        let journal = try take.makeJournal(fileName: Self.name)
        for append in appends { try journal.append(append.span) }
        return try folder.read("template/takes/\(id.text)/\(Self.name)")
    }

    private func leave(_ file: [UInt8], in name: String, hasManifest: Bool = true) throws {
        let take = try store(name).makeTake(id)
        // A process that another test starts just now would hold the lock on.
        defer { take.unlock() }
        _ = try folder.write(file, to: "\(name)/takes/\(id.text)/\(Self.name)")
        guard hasManifest else { return }
        try take.save(
            TakeManifest(
                id: id, created: Date(), audio: Self.name, format: "wav", source: "default",
                url: "http://service"))
    }

    private func appends(_ count: Int) throws -> [[UInt8]] {
        let encoder = WAVEncoder()
        var header: [UInt8] = []
        try encoder.begin(into: &header)
        return [header] + (1...count).map { [UInt8](repeating: UInt8($0), count: 33) }
    }

    @Test func everyTruncationKeepsTheLongestWholePart() throws {
        let appends = try appends(3)
        let file = try audio(appends)
        let ends = appends.reduce(into: [120]) { $0.append($0[$0.count - 1] + $1.count + 28) }
        #expect(file.count == ends.last)
        for size in ends[1]...file.count {
            let name = "cut-\(size)"
            try leave(Array(file[..<size]), in: name)
            let whole = ends.lastIndex { $0 <= size } ?? 0
            let bytes = appends[..<whole].flatMap { $0 }
            let store = try store(name)
            let recovered = try Recovery.recoverAll(in: store)
            guard whole > 1 else {
                // Nothing but the header of a WAV file.
                #expect(recovered == [])
                #expect(try store.ids() == [])
                continue
            }
            #expect(recovered == [id])
            #expect(try Recovery.recoverAll(in: store) == [])
            let take = try store.take(id)
            let manifest = try take.manifest()
            #expect(manifest.state == .kept)
            // To a whole frame of the audio too: 33 bytes are 16 and a half.
            let frames = (bytes.count - 44) / 2
            #expect(manifest.frames == frames)
            #expect(manifest.byteCount == 44 + 2 * frames)
            #expect(try take.audioByteCount(fileName: Self.name) == ends[whole])
            let found = try take.openAudio(fileName: Self.name)
                .journal(byteCount: 44 + 2 * frames)
            #expect(try found.contents() == Array(bytes[..<(44 + 2 * frames)]))
        }
    }

    @Test func aTakeWithoutAManifestIsBuiltFromItsAudio() throws {
        try leave(try audio(try appends(2)), in: "state", hasManifest: false)
        #expect(try Recovery.recoverAll(in: try store()) == [id])
        let manifest = try store().take(id).manifest()
        #expect(manifest.frames == 33)
        #expect(manifest.audio == Self.name)
    }

    @Test func aTakeThatDiedBeforeItHadAKeyIsEmpty() throws {
        try leave(Array(try audio(try appends(1))[..<119]), in: "state")
        #expect(try Recovery.recoverAll(in: try store()) == [])
        #expect(try store().ids() == [])
    }

    @Test func damageInTheMiddleIsNamedAndNothingBehindItIsCutOff() throws {
        var file = try audio(try appends(3))
        file[120 + 72 + 20] ^= 1
        try leave(file, in: "state")
        #expect(try Recovery.recoverAll(in: try store()) == [id])
        let take = try store().take(id)
        let manifest = try take.manifest()
        #expect(manifest.reason?.hasPrefix("33 of 143 bytes of its audio were altered") == true)
        #expect(manifest.frames == 49)
        #expect(try take.audioByteCount(fileName: Self.name) == file.count)
    }

    @Test func withoutTheKeyNothingIsChanged() throws {
        let file = try audio(try appends(2)) + [1, 2, 3]
        try leave(file, in: "state")
        let other = try EncryptionKey(bytes: Array(2...33))
        for key in [nil, other] {
            let store = try TakeStore(stateFolder: folder.path("state"), key: key)
            #expect(try Recovery.recoverAll(in: store) == [])
            #expect(try store.take(id).manifest().state == .recording)
        }
        #expect(try folder.read("state/takes/\(id.text)/\(Self.name)") == file)
        #expect(try Recovery.recoverAll(in: try store()) == [id])
    }

    @Test func aLongFileWithoutAnythingWholeIsNotDeleted() throws {
        var file = try audio(try appends(40))
        for index in 120..<file.count { file[index] = 7 }
        try leave(file, in: "state")
        #expect(try Recovery.recoverAll(in: try store()) == [])
        #expect(try folder.read("state/quarantine/\(id.text)/\(Self.name)") == file)
    }
}
