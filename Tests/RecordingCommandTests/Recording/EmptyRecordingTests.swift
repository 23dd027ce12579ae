// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs

/// A recording without a sample: nothing of it reaches a service, which would want to be paid.
@Suite struct EmptyRecordingTests {
    /// What a program writes that ends before it has written any sound.
    enum Beginning: CaseIterable {
        case raw, wav, ffmpegWAV, flac, opus

        var bytes: [UInt8] {
            get throws {
                switch self {
                case .raw: return [0x81]
                case .wav: return try Array(readFile(Clip.digits.path).prefix(44))
                case .ffmpegWAV: return try Self.begun(.wav)
                case .flac: return try Self.begun(.flac)
                case .opus: return try Self.begun(.oggOpus)
                }
            }
        }

        /// What stands before the first sample, and what an encoder adds when none has come.
        private static func begun(_ codec: AudioCodec) throws -> [UInt8] {
            let encoder = try codec.makeEncoder()
            var bytes: [UInt8] = []
            try encoder.begin(into: &bytes)
            try encoder.finish(into: &bytes)
            return bytes
        }
    }

    private func expectNothing(
        _ result: CommandResult, of name: String, label: String = "", on bench: Bench
    ) throws {
        #expect(result.status == .exited(65), "\(result.errorText)")
        #expect(result.output.isEmpty)
        #expect(
            result.errorText.contains(
                "utter: error: \(label)there is no sound in '\(name)': nothing is sent\n"),
            "\(result.errorText)")
        #expect(result.errorText.contains("utter: hint: look at what the program says"))
        #expect(bench.server?.connectionCount == 0)
        #expect(try bench.takes().isEmpty)
    }

    @Test(arguments: Beginning.allCases)
    func nothingIsSentOfStandardInputWithoutASample(_ beginning: Beginning) async throws {
        let bench = try Bench(server: .hearing("no"))
        let result = try await bench.run("send", "-", input: .bytes(try beginning.bytes))
        try expectNothing(result, of: "standard input", on: bench)
    }

    @Test(arguments: [(1, "auto"), (4, "auto"), (4, "chunked"), (4, "length")])
    func nothingIsSentOfFilesWithoutASample(_ count: Int, _ framing: String) async throws {
        let bench = try Bench(server: .hearing("no"))
        let files = try Beginning.allCases.dropFirst().prefix(count).map {
            try bench.folder.write(try $0.bytes, to: "\($0)")
        }
        #expect(files.count == count)
        let words = ["send", "-c", "transfer.framing=\(framing)"] + files
        let result = try await bench.start(words).result()
        for file in files {
            let label = count > 1 ? "\(file): " : ""
            try expectNothing(result, of: file, label: label, on: bench)
        }
    }

    @Test func anotherFileIsSentAllTheSame() async throws {
        let bench = try Bench(server: .hearing("digits"))
        let file = try bench.folder.write(try Beginning.wav.bytes, to: "empty.wav")
        let result = try await bench.run("send", file, Clip.digits.path)
        #expect(result.status == .exited(65))
        #expect(result.outputText == "\(Clip.digits.path): digits\n")
        #expect(bench.requests.count == 1)
    }

    /// Samples that the converter still holds back when the file ends are sound.
    @Test func aFileOfOneSampleIsSent() async throws {
        let bench = try Bench(server: .hearing("a click"))
        let result = try await bench.run(
            "send", "--rate", "48000", "-", input: .bytes([0x10, 0x20, 0x10, 0x20, 0x10, 0x20]))
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(bench.requests.count == 1)
    }
}
