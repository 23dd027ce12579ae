// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The files of a run: the programs that are measured, and a folder that goes with the process.
final class Workplace {
    /// The release build of `utter`, or what `UTTER_BENCH_PROGRAM` names.
    let program: String
    /// A folder for everything that is written.
    let folder: String
    /// The root of the package.
    let root: String
    /// The simplest program that does the same, in C.
    var plainClient: String { "\(folder)/plain-client" }

    /// Finds the program.
    ///
    /// - Throws: `BenchmarkError` when it has not been built.
    init(file: String = #filePath) throws(BenchmarkError) {
        let parts = file.split(separator: "/", omittingEmptySubsequences: false)
        root = parts.dropLast(4).joined(separator: "/")
        program =
            getenv("UTTER_BENCH_PROGRAM").map { String(cString: $0) }
            ?? root + "/.build/release/utter"
        guard access(program, X_OK) == 0 else {
            throw BenchmarkError("there is no \(program); build it with: make build")
        }
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/utter-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw BenchmarkError("cannot make a folder in \(parent)")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        setenv("XDG_STATE_HOME", "\(folder)/state", 1)
        try compile(
            "Benchmarks/plain-client.c", to: plainClient, ["-lasound", "-lcurl", "-lopus"])
    }

    /// Compiles a program or a library in C, unless it is there.
    ///
    /// - Throws: `BenchmarkError` when there is no C compiler, or a library is missing.
    func compile(
        _ source: String, to output: String, _ arguments: [String]
    ) throws(BenchmarkError) {
        guard access(output, R_OK) != 0 else { return }
        let words = ["cc", "-O2", "-D_GNU_SOURCE", "-o", output, "\(root)/\(source)"]
        guard Child.run(words + arguments) == 0 else {
            throw BenchmarkError("cannot compile \(source)")
        }
    }

    deinit { _ = Child.run(["rm", "-rf", folder]) }

    /// Writes a WAV file of 16 kHz mono, 16 bits, with noise-like samples.
    ///
    /// - Returns: its path.
    func makeRecording(seconds: Int) throws(BenchmarkError) -> String {
        let path = "\(folder)/\(seconds)s.wav"
        guard access(path, R_OK) != 0 else { return path }
        guard let file = fopen(path, "wb") else { throw BenchmarkError("cannot write \(path)") }
        defer { fclose(file) }
        let length = UInt32(seconds * 32_000)
        var header: [UInt8] = Array("RIFF".utf8)
        let append = { (value: UInt32, count: Int) in
            for shift in 0..<count {
                header.append(UInt8(truncatingIfNeeded: value >> (8 * shift)))
            }
        }
        append(length + 36, 4)
        header += Array("WAVEfmt ".utf8)
        for (value, count) in [(16, 4), (1, 2), (1, 2), (16_000, 4), (32_000, 4), (2, 2), (16, 2)] {
            append(UInt32(value), count)
        }
        header += Array("data".utf8)
        append(length, 4)
        fwrite(header, 1, header.count, file)
        for second in 0..<seconds {
            let samples = (0..<16_000).map {
                VirtualMicrophone.sample(at: second * 16_000 + $0) / 8
            }
            _ = samples.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        }
        return path
    }
}
