// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What many takes on the disk cost.
struct SpoolBenchmarks {
    let workplace: Workplace
    let report: Report

    /// What has become of the takes.
    private enum State: String {
        /// They wait, with their audio.
        case kept
        /// They have their text, and no audio any more.
        case answered
    }

    /// Leaves `count` takes: one is made, the others are its copies.
    private func fill(_ count: Int, _ state: State) throws(BenchmarkError) {
        try clear()
        let file = try workplace.makeRecording(seconds: 3)
        let server = try BodyServer()
        // Nothing listens on port 9.
        let url = state == .kept ? "http://127.0.0.1:9/" : server.url
        let child = try Child([
            workplace.program, "send", "-q", "-c", "retry.never=true", "--to", url, file,
        ])
        if state == .answered { try server.receive { _, _ in } }
        _ = child.wait()
        let script = """
            set -e
            cd "$2"/state/utter/takes
            id=$(ls)
            for n in $(seq 2 "$0"); do
                copy=20200101-$(printf %06d $n)-abcdefghjkmn
                mkdir -m 700 $copy
                sed "s/$id/$copy/" $id/take.json > $copy/take.json
                test "$1" = answered || cp $id/audio.wav $copy/
            done
            """
        let words = ["sh", "-c", script, "\(count)", state.rawValue, workplace.folder]
        guard Child.run(words) == 0 else { throw BenchmarkError("cannot make \(count) takes") }
    }

    private func clear() throws(BenchmarkError) {
        guard Child.run(["rm", "-rf", workplace.folder + "/state"]) == 0 else {
            throw BenchmarkError("cannot remove the takes")
        }
    }

    /// `utter list`, and the first body byte of a new take, with few and many takes on the disk.
    func many(runs: Int) throws(BenchmarkError) {
        let server = try BodyServer()
        let file = try workplace.makeRecording(seconds: 3)
        // Of a thousand that wait, a new one would be too many.
        for (count, state) in [(1, State.kept), (999, .kept), (3_000, .answered)] {
            try fill(count, state)
            var lists: [Double] = []
            for _ in 0..<runs {
                let child = try Child([workplace.program, "list"])
                _ = child.wait()
                lists.append(Double(monotonicTime() - child.start) / 1e6)
            }
            let subject = "takes \(state.rawValue): \(count)"
            report.add("utter list, \(subject)", milliseconds: Distribution(lists))
            var (starts, costs): ([Double], [Double]) = ([], [])
            for _ in 0..<runs {
                let child = try Child([
                    workplace.program, "send", file, "--to", server.url, "-q",
                ])
                var first: Int64?
                try server.receive { _, time in first = first ?? time }
                starts.append(Double((first ?? 0) - child.start) / 1e6)
                costs.append(child.wait().processorTime * 1e3)
            }
            report.add(
                "first body byte, \(subject)", milliseconds: Distribution(starts),
                [
                    ("p10_ms", Distribution(starts).percentile(10)),
                    ("processor_p50_ms", Distribution(costs).percentile(50)),
                ])
        }
        try clear()
    }
}
