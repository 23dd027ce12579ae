// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cryptography
@testable import TakeStore
@testable import Utter

/// The power fails between any two file operations.
@Suite struct PowerCutTests {
    /// A run of the program whose operations are looked at.
    struct Script: Sendable, CustomTestStringConvertible {
        var format: String
        var isDelivered: Bool
        var isEncrypted = false
        /// Its bytes come to the disk with each sync, and else with each period.
        var hasRing = false
        var testDescription: String {
            "\(format), \(isDelivered ? "delivered" : "kept")" + (isEncrypted ? ", encrypted" : "")
                + (hasRing ? ", with a ring" : "")
        }

        static let all =
            ["wav", "ogg-opus", "pcm", "flac"].flatMap { format in
                [true, false].map { Script(format: format, isDelivered: $0) }
            }
            + ["wav", "ogg-opus", "flac"].map {
                Script(format: $0, isDelivered: false, isEncrypted: true)
            }
            + ["wav", "ogg-opus"].map { Script(format: $0, isDelivered: false, hasRing: true) }

        static let secret = Array(
            ("utter-key-"
                + (1...32).map { $0 < 16 ? "0\(String($0, radix: 16))" : String($0, radix: 16) }
                .joined()).utf8)
        /// It is one; without it the test finds nothing.
        var key: EncryptionKey? { isEncrypted ? try? EncryptionKey(secret: Self.secret) : nil }
        /// What every command needs besides.
        func options(on bench: FaultBench) throws -> [String] {
            guard isEncrypted else { return [] }
            return ["--encrypt-key", try bench.folder.write(Self.secret, to: "key")]
        }

        /// Each sync takes longer, so that more is at risk.
        var hasSlowDisk: Bool { format == "ogg-opus" }

        func run() async throws -> FaultBench {
            let bench = try FaultBench(milliseconds: hasSlowDisk ? 1_600 : 800)
            if !hasRing { try RingFolder.occupy(8, ofSpool: bench.stateFolder) }
            let result = try await bench.run(
                ["send", "-q", "--pace", "realtime", "--format", format] + options(on: bench)
                    + (isDelivered ? ["-c", "retry.never=true"] : FaultBench.noServer)
                    + [bench.recording],
                FileFaults(syncDelay: .milliseconds(hasSlowDisk ? 250 : 0)))
            try #require(result.status == .exited(isDelivered ? 0 : 75))
            return bench
        }
    }

    /// Makes what is left, recovers it twice in this process, and tells what is wrong with it.
    private static func problems(
        of remains: LostPower.Remains, in disk: String, _ script: Script
    ) throws -> [String] {
        var problems: [String] = []
        let bench = try RecoveryBench(remains.entries, in: disk)
        let store = try TakeStore(stateFolder: bench.stateFolder, key: script.key)
        try store.recoverAll()
        problems += try wrongs(in: store)
        let state = try contents(of: bench.root)
        try store.recoverAll()
        if try contents(of: bench.root) != state {
            problems.append("the second recovery changed something")
        }
        for path in remains.manifests {
            let bytes = Data((remains.entries[path] ?? nil) ?? [])
            do {
                _ = try JSONDecoder().decode(TakeOnDisk.Manifest.self, from: bytes)
            } catch {
                problems.append("\(bytes.count) bytes of a manifest that was durable: \(error)")
            }
        }
        for (id, durable) in remains.durable {
            let name = remains.entries.keys.first { $0.contains("\(id)/audio.") } ?? ""
            let whole =
                script.isEncrypted
                ? try decrypted(durable, of: id, name, in: disk, script)
                : WholeAudio.prefix(of: durable, named: name)
            if whole.isEmpty { continue }
            // That it cannot be opened is what is being looked for.
            guard let id = TakeID(id), let folder = try? store.take(id) else {
                // A header alone is no sound: its take may go.
                if WholeAudio.hasSound(whole, named: name.replacing(".encrypted", with: "")) {
                    problems.append("the take is gone, \(whole.count) bytes of it were durable")
                }
                continue
            }
            do {
                let manifest = try folder.manifest()
                if manifest.state == .answered {
                    if manifest.transcript != FaultBench.transcript {
                        problems.append("answered without its transcript")
                    }
                    continue
                }
                if manifest.state == .recording { problems.append("still recording") }
                let journal = try folder.openAudio(of: manifest).journal(
                    byteCount: script.isEncrypted ? manifest.byteCount ?? 0 : .max)
                let audio = try journal.contents()
                if !audio.starts(with: whole) {
                    problems.append("\(audio.count) bytes left of \(whole.count) durable ones")
                }
                if manifest.byteCount != audio.count {
                    problems.append(
                        "\(manifest.state): \(manifest.byteCount ?? -1) bytes promised, \(audio.count) there"
                    )
                }
                if try manifest.sha256 != journal.sha256() {
                    problems.append("\(manifest.state): the audio is not the one that was hashed")
                }
            } catch {
                problems.append("\(error)")
            }
        }
        return problems
    }

    /// What is neither at rest nor out of the way with a reason, and what no player could open.
    private static func wrongs(in store: TakeStore) throws -> [String] {
        var problems: [String] = []
        for id in try store.ids() {
            do {
                let take = try store.take(id)
                let manifest = try take.manifest()
                if !manifest.isAtRest { problems.append("\(id.text): \(manifest.state) for ever") }
                if manifest.state != .kept { continue }
                let audio = try take.openAudio(of: manifest).journal(byteCount: 44).contents()
                let isWhole =
                    manifest.audio.contains(".wav")
                    ? audio == WholeAudio.header
                    : audio.starts(with: (manifest.format == "flac" ? "fLaC" : "OggS").utf8)
                if !isWhole { problems.append("\(id.text): begins with \(audio)") }
            } catch {
                problems.append("\(id.text): \(error)")
            }
        }
        // There is nothing to tell of a take without audio.
        for name in store.quarantined().names {
            let names = try FileManager.default.contentsOfDirectory(
                atPath: store.quarantined().folder + "/" + name)
            if names.contains(where: { $0.hasPrefix("audio.") }),
                store.quarantineReason(of: name) == nil
            {
                problems.append("\(name): set aside without a reason")
            }
        }
        return problems
    }

    /// What an encrypted file says.
    private static func decrypted(
        _ file: [UInt8], of id: String, _ path: String, in disk: String, _ script: Script
    ) throws -> [UInt8] {
        let folder = path.split(separator: "/").dropLast()
        let parents = folder.indices.map { folder[...$0].joined(separator: "/") }
        let bench = try RecoveryBench(
            [String: [UInt8]?](
                uniqueKeysWithValues: parents.map { ($0, nil) } + [(path, file)]), in: disk)
        let store = try TakeStore(stateFolder: bench.stateFolder, key: script.key)
        guard let id = TakeID(id), let name = path.split(separator: "/").last else { return [] }
        return try store.take(id).openAudio(fileName: String(name)).journal(byteCount: .max)
            .contents()
    }

    @Test(arguments: Script.all)
    func whatWasDurableIsThereWheneverThePowerFails(_ script: Script) async throws {
        let bench = try await script.run()
        var random = SeededRandom()
        var disk = LostPower(folder: bench.home)
        var seen: Set<Int> = []
        var problems: [String] = []
        var samples: [LostPower.Remains] = []
        let memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        for operation in try bench.trace where operation.isChange {
            disk.apply(operation)
            for remains in disk.remains(mixtures: 6, using: &random) {
                guard seen.insert(remains.hash).inserted else { continue }
                problems += try Self.problems(of: remains, in: memory, script).map {
                    "after \(operation.number), \(operation.name): \($0)"
                }
                samples.append(remains)
            }
        }
        report(harms: seen.count, "power cuts", lost: problems.count)
        #expect(problems == [], "seed \(random.seed)")
        #expect(seen.count >= (script.hasRing ? 75 : 300))
        #expect(
            try Self.problems(
                of: try #require(disk.remains(mixtures: 0, using: &random).first), in: memory,
                script) == [])
        // What follows is told of files that can be read.
        if script.isEncrypted { return }
        // It becomes durable while it grows, not only at its end.
        let audio = try bench.trace.filter { $0.path.contains("/audio.") && $0.result >= 0 }
        let lastWrite = try #require(audio.last { $0.name == "write" })
        let firstSync = try #require(audio.first { $0.name == "fdatasync" })
        #expect(firstSync.number < lastWrite.number)

        // The program itself recovers and sends a few of them.
        let some = samples.shuffled(using: &random).prefix(8)
        problems = try await inLanes(3, Array(some)) { remains in
            let bench = try FaultBench()
            try bench.restore(remains.entries)
            return try await SurvivorCheck(bench: bench, written: remains.durable).problems()
        }
        #expect(problems == [], "seed \(random.seed)")
        // At the end nothing that was said is at risk any more.
        let whole = try #require(disk.remains(mixtures: 0, using: &random).first)
        #expect(whole.manifests.count == 1)
        if !script.isDelivered {
            #expect(whole.durable.values.map(\.count) == [try bench.takes().first?.audio?.count])
        }
    }
}

extension LostPower.Remains {
    fileprivate var hash: Int {
        var hasher = Hasher()
        for (path, bytes) in entries.sorted(by: { $0.key < $1.key }) {
            hasher.combine(path)
            hasher.combine(bytes?.count ?? -1)
            // All at once: without optimisation each byte of an array is hashed by itself.
            bytes?.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
        for (id, bytes) in durable.sorted(by: { $0.key < $1.key }) {
            hasher.combine(id)
            hasher.combine(bytes.count)
        }
        return hasher.finalize()
    }
}
