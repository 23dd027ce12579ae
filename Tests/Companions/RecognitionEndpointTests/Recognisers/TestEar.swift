// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore
@testable import RecognitionEndpoint

/// A recogniser in Python that hears how many bytes came, and their checksum, and that goes wrong as
/// it is told.
struct TestEar: Sendable {
    let folder: TemporaryFolder
    var recogniser: Recogniser

    /// Makes the program.
    ///
    /// - Parameters:
    ///   - fault: what it does wrong, mostly after 20,000 bytes.
    ///   - isLasting: it does so each time, not in its first run alone.
    /// - Throws: when its file cannot be written.
    init(_ fault: String = "none", isLasting: Bool = false) throws {
        folder = try TemporaryFolder()
        let path = try folder.write(Array(Self.program.utf8), to: "ear.py")
        recogniser = Recogniser(
            words: ["python3", path, folder.path, fault, isLasting ? "lasting" : "once"])
        // Long enough for any machine to start Python, where a test does not wait for it.
        (recogniser.startTime, recogniser.patience) = (.patience, .patience)
    }

    /// How often it has been started.
    var startCount: Int {
        get throws { try folder.names().count { $0.hasPrefix("start-") } }
    }

    /// What it hears in a body.
    static func text(_ body: [UInt8]) -> String { "\(body.count) bytes \(checksum(body))" }

    /// Adler-32 (RFC 1950 §9), which Python has in C.
    private static func checksum(_ body: [UInt8]) -> Int {
        var (sum, sums) = (1, 0)
        for byte in body {
            sum = (sum + Int(byte)) % 65_521
            sums = (sums + sum) % 65_521
        }
        return sums << 16 | sum
    }

    /// Sends a body in pieces, and returns how it ends.
    func hear(
        _ body: [UInt8], with pool: RecogniserPool, _ hints: SpeechHints = SpeechHints()
    ) async throws -> RecognitionEvents.Event {
        let job = try RecognitionJob(
            .pcm(.speech, isBigEndian: false), hints: hints,
            by: DecodingMeans(folder: folder.path))
        #expect(pool.submit(job))
        var rest = body[...]
        while !rest.isEmpty {
            await job.body.append(Array(rest.prefix(4_000)))
            rest = rest.dropFirst(4_000)
        }
        job.body.finish()
        return await job.events.end()
    }

    private static let program = #"""
        import json, os, signal, sys, time, zlib
        folder, fault, mode = sys.argv[1:4]
        number = 0
        while True:
            try:
                os.close(os.open(f"{folder}/start-{number}", os.O_CREAT | os.O_EXCL))
                break
            except FileExistsError:
                number += 1
        is_faulty = number == 0 or mode == "lasting"
        source = sys.stdin.buffer

        def say(**line):
            print(json.dumps(line), flush=True)

        def wait():
            while True:
                signal.pause()

        def misbehave():
            if fault == "crash":
                print("words before", "the last words", sep="\n", file=sys.stderr, flush=True)
                os._exit(3)
            elif fault == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            elif fault == "hang":
                wait()
            elif fault == "nonsense":
                print("hello", flush=True)
            elif fault == "unknown":
                print('{"answer": 42}', flush=True)
            elif fault == "long":
                while True:
                    os.write(1, b"x" * 65536)
            elif fault == "closed":
                os.close(1)
                wait()
            elif fault == "memory":
                held = []
                while True:
                    held.append(bytearray(1 << 20))
            elif fault == "child":
                if os.fork() == 0:
                    wait()
                os._exit(4)
            elif fault == "complaints":
                for _ in range(64):
                    os.write(2, b"y" * 65535 + b"\n")
            elif fault == "error":
                say(error="no such voice")
            elif fault == "slow":
                while not os.path.exists(f"{folder}/go"):
                    time.sleep(0.01)

        if fault == "unable":
            say(error="the model is missing", hint="fetch it")
            sys.exit(1)
        if fault == "absent":
            sys.exit("this is why")
        if fault == "hasty":
            say(partial="well")
        while True:
            say(ready={"name": "test"})
            line = source.readline()
            if not line:
                break
            begin = json.loads(line)["begin"]
            count, checksum, has_failed = 0, 1, False
            while True:
                command = json.loads(source.readline())
                if command.get("cancel"):
                    break
                sound = source.read(command.get("audio", 0))
                count, checksum = count + len(sound), zlib.adler32(sound, checksum)
                if is_faulty and not has_failed and count >= 20000:
                    has_failed = True
                    misbehave()
                if os.path.exists(f"{folder}/kill") and count >= 20000:
                    os.unlink(f"{folder}/kill")
                    os.kill(os.getpid(), signal.SIGKILL)
                say(partial=f"{count} bytes", time=count / 32000)
                if command.get("end"):
                    if is_faulty and fault == "late":
                        open(f"{folder}/whole", "w").close()
                        while not os.path.exists(f"{folder}/go"):
                            time.sleep(0.01)
                    if fault == "hints":
                        say(final=json.dumps(begin, sort_keys=True), end=True)
                    elif fault == "place":
                        names = sorted(os.environ) + sorted(os.listdir("/proc/self/fd"))[:3]
                        is_alone = os.getpgid(0) == os.getpid()
                        say(final=" ".join(names + [str(is_alone)]), end=True)
                    elif fault == "finals":
                        say(final="one  two", words=[{"word": "one", "start": -1, "end": 1e99}])
                        say(partial="three")
                        say(final="three", end=True)
                    elif fault == "colours":
                        say(final="\u001b[31mred\u009b0m", end=True)
                    elif fault == "talkative":
                        say(final="one", end=True)
                        say(partial="and more")
                    elif not (fault == "error" and has_failed):
                        say(final=f"{count} bytes {checksum}", end=True)
                    break
        """#
}

extension RecognitionEvents {
    /// The next event that is no partial text.
    func end() async -> Event {
        while true {
            let event = await next()
            if case .partial = event { continue }
            return event
        }
    }
}
