// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A pipe's bytes are nowhere else once they are read.
@Suite struct PipeKillTests {
    @Test(arguments: [true, false])
    func ofAPipeAKillCostsThePeriodInHand(_ isNamed: Bool) async throws {
        let deaths = Array(1...40).thinned { $0 % 4 }
        let problems = try await inLanes(4, deaths) { number in
            // All of it is in the pipe before the program starts.
            let bench = try FaultBench(milliseconds: 1_900)
            let pipe = try FullPipe(
                bench.folder.path("voice.fifo"), try bench.folder.read("voice.wav"))
            let run = try bench.start(
                ["send", "-q", "--pace", "max", isNamed ? pipe.path : "-"],
                FileFaults(kill: .before(number), isTraced: false),
                shell: isNamed ? nil : #"exec "$0" "$@" < \#(pipe.path)"#)
            guard case .signalled(SIGKILL) = try await run.result().status else {
                return ["operation \(number) was not reached"]
            }
            let read = pipe.readByteCount - (pipe.byteCount - bench.samples.count)
            // A command that looks at takes moves the bytes of the ring into the journal.
            let list = try await bench.run(["list"])
            guard list.status == .exited(0) else { return [list.errorText] }
            let kept = try bench.remains().compactMap(\.audio?.count).max() ?? 0
            let lost = read - max(0, kept - 44)
            return lost <= 640 ? [] : ["before operation \(number): \(lost) bytes"]
        }
        #expect(problems == [])
    }
}

/// A named pipe that holds a recording as far as it has not been read.
final class FullPipe: Sendable {
    let path: String
    let byteCount: Int
    private let descriptor: Int32

    init(_ path: String, _ bytes: [UInt8]) throws {
        self.path = path
        byteCount = bytes.count
        try #require(mkfifo(path, 0o600) == 0)
        // For both, so that neither end is ever missing.
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(write(descriptor, bytes, bytes.count) == bytes.count)
    }

    deinit { close(descriptor) }

    var readByteCount: Int {
        var left: Int32 = 0
        _ = ioctl(descriptor, UInt(FIONREAD), &left)
        return byteCount - Int(left)
    }
}
