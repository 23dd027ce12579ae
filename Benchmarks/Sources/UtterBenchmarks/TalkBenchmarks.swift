// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What a person waits for who begins and ends takes with a key that runs `utter start` and `utter
/// stop`: the start of those programs is part of it.
struct TalkBenchmarks {
    let workplace: Workplace
    let report: Report

    private struct Delays {
        var toFirstFrame: [Double] = []
        var toLastByte: [Double] = []
    }

    /// Without a daemon each start is the recorder; with one the same program does it all.
    func keys(runs: Int) throws(BenchmarkError) {
        setenv("XDG_RUNTIME_DIR", workplace.folder, 1)
        let microphone = try VirtualMicrophone(.direct, in: workplace)
        for (name, value) in microphone.environment { setenv(name, value, 1) }
        let server = try BodyServer()
        let options = [
            "--device", microphone.card.device, "--to", server.url, "-c", "recording.tail=0", "-q",
        ]
        add("without a daemon", try takes(runs, microphone, server, options))
        let daemon = try Child([workplace.program, "daemon"] + options)
        try wait { access("\(workplace.folder)/utter/control", F_OK) == 0 }
        add("with a daemon", try takes(runs, microphone, server, []))
        kill(daemon.id, SIGTERM)
        daemon.wait()
    }

    private func add(_ name: String, _ delays: Delays) {
        report.add("start to first frame, \(name)", milliseconds: Distribution(delays.toFirstFrame))
        report.add("stop to last byte, \(name)", milliseconds: Distribution(delays.toLastByte))
    }

    private func takes(
        _ runs: Int, _ microphone: VirtualMicrophone, _ server: BodyServer, _ options: [String]
    ) throws(BenchmarkError) -> Delays {
        var delays = Delays()
        for _ in 0..<runs {
            let before = microphone.firstFrameAt
            let start = try Child([workplace.program, "start"] + options)
            var stop: Child?
            var count = 0
            // Half a second of PCM.
            try server.receive { piece, _ in
                count += piece.count
                // A stop that cannot be started shows as a body without an end.
                if stop == nil, count >= 16_000 { stop = try? Child([workplace.program, "stop"]) }
            }
            let end = monotonicTime()
            guard let stop, microphone.firstFrameAt != before else {
                throw BenchmarkError("the card was not started, or the take not stopped")
            }
            delays.toFirstFrame.append(Double(microphone.firstFrameAt - start.start) / 1e6)
            delays.toLastByte.append(Double(end - stop.start) / 1e6)
            guard stop.wait().status == 0, start.wait().status == 0 else {
                throw BenchmarkError("a take that was started and stopped failed")
            }
        }
        return delays
    }

    private func wait(until isThere: () -> Bool) throws(BenchmarkError) {
        for _ in 0..<1_000 {
            if isThere() { return }
            usleep(10_000)
        }
        throw BenchmarkError("the daemon does not listen")
    }
}
