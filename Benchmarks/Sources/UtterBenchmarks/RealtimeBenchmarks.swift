// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How soon words are there: over a WebSocket, beside an upload to the same kind of service.
///
/// The service is `scripts/peer-socket.py`, which says of each message of audio how many bytes it has
/// heard, at once. Each figure holds its own time and that of the pipe to this program. Where `make peers`
/// has OpenAI's own client, it speaks with the same service: from its commit to the text.
struct RealtimeBenchmarks {
    let workplace: Workplace
    let report: Report

    private struct Delays {
        var partials: [Double] = []
        var finals: [Double] = []
    }

    /// Takes of two seconds, in alternating runs; without a tail the last sample is that of the stop.
    func words(runs: Int) throws(BenchmarkError) {
        let program = try Program(["/usr/bin/python3", "-u", "scripts/peer-socket.py"])
        guard let port = program.readLine() else { throw BenchmarkError("no service listens") }
        let server = try BodyServer()
        var (socket, upload) = (Delays(), Delays())
        let live = [
            "--service", "deepgram", "-c", "way=live", "-c",
            "url=ws://127.0.0.1:\(port.text)/echo", "-c", "auth.optional=true",
        ]
        for _ in 0..<runs {
            try take(live, nil, into: &socket)
            try take(["--to", server.url, "--format", "pcm"], server, into: &upload)
        }
        report.add("sample to partial, WebSocket", milliseconds: Distribution(socket.partials))
        report.add("last sample to text, WebSocket", milliseconds: Distribution(socket.finals))
        report.add("last sample to text, upload", milliseconds: Distribution(upload.finals))
        try dialect(of: port.text, runs: runs)
    }

    /// The same messages by two clients; a service that hears silence has its text at the commit.
    private func dialect(of port: String, runs: Int) throws(BenchmarkError) {
        var own = Delays()
        let live = [
            "--service", "openai", "-c", "way=live", "-c", "url=ws://127.0.0.1:\(port)/openai",
            "-c", "auth.optional=true",
        ]
        for _ in 0..<runs { try take(live, nil, into: &own) }
        report.add("last sample to text, OpenAI's messages", milliseconds: Distribution(own.finals))
        let python = ".build/peers/bin/python3"
        guard access(python, X_OK) == 0 else { return }
        let client = try Program([
            python, "scripts/peer-openai.py", "http://127.0.0.1:\(port)/openai", "silence",
            "\(runs)",
        ])
        var seconds: [Double] = []
        while let line = client.readLine() {
            let text = line.text.split(separator: "\"seconds\": ").last?.prefix { $0 != "}" }
            if let value = text.flatMap({ Double($0) }) { seconds.append(value * 1e3) }
        }
        guard client.wait() == 0 else { throw BenchmarkError("OpenAI's client failed") }
        report.add("commit to text, OpenAI's client", milliseconds: Distribution(seconds))
    }

    private func take(
        _ options: [String], _ server: BodyServer?, into delays: inout Delays
    ) throws(BenchmarkError) {
        let microphone = try VirtualMicrophone(.direct, in: workplace)
        for (name, value) in microphone.environment { setenv(name, value, 1) }
        let words = [
            workplace.program, "--events", "--device", microphone.card.device, "--for", "2s", "-c",
            "recording.tail=0", "--no-keep",
        ]
        let program = try Program(words + options)
        var last: Int64?
        if let server { try server.receive { _, _ in } }
        while let line = program.readLine() {
            if line.text.contains(#""event":"outcome""#) { last = line.time }
            // The bytes that the service had when it said so.
            guard line.text.contains(#""event":"heard""#),
                let mark = line.text.split(separator: "bytes:").dropFirst().last,
                let count = Int(mark.prefix { $0.isNumber })
            else { continue }
            let capture = microphone.firstFrameAt + Int64(count / 2) * 62_500
            delays.partials.append(Double(line.time - capture) / 1e6)
        }
        // 1: nothing was heard, as of silence.
        // As waitpid(2) has it; with status 1 nothing was heard, as of silence.
        let status = program.wait() >> 8
        guard let last, [0, 1].contains(status) else {
            throw BenchmarkError("the take failed with status \(status)")
        }
        delays.finals.append(Double(last - microphone.firstFrameAt - 2_000_000_000) / 1e6)
    }
}

/// A program whose lines are read as they come.
private final class Program {
    struct Line {
        let text: String
        /// When it was read whole.
        let time: Int64
    }

    private let child: Child
    private let output: Int32
    /// Held open, so that the program reads no end.
    private let input: Int32
    private var bytes: [UInt8] = []

    init(_ arguments: [String]) throws(BenchmarkError) {
        var (ends, inputs): ([Int32], [Int32]) = ([0, 0], [0, 0])
        guard pipe(&ends) == 0, pipe(&inputs) == 0 else {
            throw BenchmarkError("cannot make a pipe")
        }
        for end in ends + inputs { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        child = try Child(arguments, input: inputs[0], output: ends[1])
        (output, input) = (ends[0], inputs[1])
        close(ends[1])
        close(inputs[0])
    }

    deinit {
        close(output)
        close(input)
    }

    /// The next line; nil at the end.
    func readLine() -> Line? {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                let text = String(decoding: bytes[..<end], as: UTF8.self)
                bytes.removeSubrange(...end)
                return Line(text: text, time: monotonicTime())
            }
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    func wait() -> Int32 { child.wait().status }
}
