// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What a thousand kept takes cost.
struct SpoolBenchmarks {
    let workplace: Workplace
    let report: Report

    /// Leaves `count` takes that could not be delivered: one is made, the others are its copies.
    private func fill(_ count: Int) throws(BenchmarkError) {
        let file = try workplace.makeRecording(seconds: 3)
        let script = """
            set -e
            cd "$3"
            rm -rf state
            "$0" send -q --no-retry --to http://127.0.0.1:9/ "$1" || test $? = 75
            cd state/utter/takes
            id=$(ls)
            for n in $(seq 2 "$2"); do
                copy=20200101-$(printf %06d $n)-abcdefghjkmn
                mkdir -m 700 $copy
                sed "s/$id/$copy/" $id/take.json > $copy/take.json
                cp $id/audio.wav $copy/
            done
            """
        let words = ["sh", "-c", script, workplace.program, file, "\(count)", workplace.folder]
        guard Child.run(words) == 0 else { throw BenchmarkError("cannot make \(count) takes") }
    }

    /// `utter list`, and the first body byte of a new take, with many takes on the disk.
    func thousand(runs: Int) throws(BenchmarkError) {
        let file = try workplace.makeRecording(seconds: 3)
        let server = try BodyServer()
        for count in [1, 999] {
            try fill(count)
            var lists: [Double] = []
            for _ in 0..<runs {
                let child = try Child([workplace.program, "list"])
                _ = child.wait()
                lists.append(Double(monotonicTime() - child.start) / 1e6)
            }
            report.add("utter list, takes kept: \(count)", milliseconds: Distribution(lists))
            var starts: [Double] = []
            for _ in 0..<runs {
                let child = try Child([
                    workplace.program, "send", file, "--to", server.url, "-q",
                ])
                var first: Int64?
                try server.receive { _, time in first = first ?? time }
                starts.append(Double((first ?? 0) - child.start) / 1e6)
                _ = child.wait()
            }
            report.add(
                "first body byte, takes kept: \(count)", milliseconds: Distribution(starts),
                [("p10_ms", Distribution(starts).percentile(10))])
        }
    }
}
