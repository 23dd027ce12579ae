// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What the disk has when a person is told that a take is kept, and what is told when it has not.
@Suite struct KeptTests {
    private static let send = ["send", "-q", "--pace", "realtime"] + FaultBench.noServer
    /// Messages are file operations then.
    private static let shell = #"exec "$0" "$@" 2>$HOME/messages"#

    private func key(_ bench: FaultBench) throws -> String {
        let key = try bench.folder.write(Array("kite-oval-7319-mesh\n".utf8), to: "key")
        chmod(key, 0o600)
        return key
    }

    @Test(arguments: [false, true])
    func aTakeIsSaidToBeKeptOnceTheDiskHasIt(_ isEncrypted: Bool) async throws {
        let bench = try FaultBench()
        let more = isEncrypted ? ["--encrypt-key", try key(bench)] : []
        let result = try await bench.run(
            Self.send + more + [bench.recording], FileFaults(), shell: Self.shell)
        #expect(result.status == .exited(75))
        let trace = try bench.trace
        let said = try #require(
            trace.firstIndex {
                $0.path.hasSuffix("/messages")
                    && String(decoding: $0.bytes, as: UTF8.self).contains("utter: kept: ")
            })
        let isOfAudio = { (operation: FileOperation) in operation.path.contains("/audio.") }
        let written = try #require(trace.lastIndex { $0.name == "write" && isOfAudio($0) })
        let synced = try #require(trace.lastIndex { $0.name == "fdatasync" && isOfAudio($0) })
        let ends = trace.filter { ["write", "fdatasync"].contains($0.name) && isOfAudio($0) }
            .suffix(4).map { "\($0.name) \($0.offset) \($0.length)" }
        #expect(written < synced && synced < said, "\(ends)")
        let before = trace[..<said]
        let replaced = try #require(
            before.lastIndex {
                $0.name == "rename" && $0.other?.hasSuffix("/take.json") == true
            })
        #expect(before[replaced...].contains { $0.name == "fsync" })
        #expect(before.contains { $0.name == "fsync" && $0.path.hasSuffix("/takes") })
    }

    /// Without the key in it, the name of an encrypted file is worth nothing.
    @Test func anEncryptedFileIsSyncedBeforeItsFolder() async throws {
        let bench = try FaultBench()
        _ = try await bench.run(
            Self.send + ["--encrypt-key", try key(bench), bench.recording], FileFaults())
        let trace = try bench.trace.filter { $0.result >= 0 }
        let audio = try #require(
            trace.firstIndex { $0.name == "fdatasync" && $0.path.contains("/audio.") })
        let folder = try #require(
            trace.firstIndex { $0.name == "fsync" && $0.path.contains("/takes") })
        #expect(audio < folder)
    }

    @Test func whatIsInMemoryIsSavedFromADeadDisk() async throws {
        let arguments = Self.send + ["--format", "pcm"]
        let writes = try await FaultBench.trace(of: arguments, milliseconds: 1_000).filter {
            $0.name == "write" && $0.path.contains("/audio.")
        }
        let middle = try #require(writes.dropFirst(writes.count / 2).first)
        let bench = try FaultBench(milliseconds: 1_000)
        let result = try await bench.run(
            arguments + [bench.recording],
            FileFaults(
                failure: .init(
                    operation: middle.number, error: EIO, onward: true,
                    kinds: ["write", "read", "fdatasync", "fsync", "rename", "truncate"])))
        #expect(result.status == .exited(74), "\(result.errorText)")
        #expect(result.errorText.contains("cannot be read from the disk and are silent"))
        #expect(!result.errorText.contains("is gone"))
        let name = try #require(
            try bench.folder.names().first { $0.hasPrefix("utter-") && $0.hasSuffix(".wav") })
        let saved = Array(try bench.folder.read(name).dropFirst(44))
        #expect(saved.count == bench.samples.count)
        let lost = saved.prefix { $0 == 0 }.count / 2 * 2
        #expect(lost < saved.count)
        #expect(Array(saved[lost...]) == Array(bench.samples[lost...]))
    }
}
