// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What a system does to a process: stops it, hangs its terminal up, gives it too little.
@Suite struct ProcessTests {
    private let server: RecordingServer
    private let bench: Bench

    init() throws {
        server = try RecordingServer.hearing("heard")
        bench = try Bench(server: server, microphone: VirtualMicrophone())
    }

    /// How long the program is stopped, at least: long enough to show it; 30 s with UTTER_SOAK=1.
    static let stop: Duration =
        getenv("UTTER_SOAK") == nil ? .milliseconds(2_500) : .seconds(30)

    /// STOP, a lost connection, then CONT: a ring of one second overruns meanwhile.
    @Test func aStoppedProgramMarksTheGapAndConnectsAgain() async throws {
        let card = try VirtualMicrophone(.withRing(ofFrames: 16_000))
        let stopped = Gate()
        let server = try RecordingServer(
            scripts: [[.readHead, .readBody(bytes: 16_000), .stallUntil(stopped), .reset]],
            otherwise: .answer(text: "after all"))
        let bench = try Bench(server: server, microphone: card)
        let run = try bench.start(["--json", "--keep-audio", "1d"])
        _ = try #require(await server.wait(untilBytes: 16_000))
        run.signal(SIGSTOP)
        stopped.open()
        // Nothing tells that a stopped process is stopped: time is what is tested here.
        try await Task.sleep(for: Self.stop)
        run.signal(SIGCONT)
        _ = try #require(await server.wait(untilBytes: 96_000, ofRequest: 1))
        run.signal(SIGUSR1)
        let result = try await run.result()

        #expect(result.status == .exited(0), "\(result.errorText)")
        let object = try ParsedJSON(result.output)
        #expect(object["text"] == .string("after all"))
        // Reset; that the clock went on meanwhile is no stall.
        #expect(object["attempts"]?[0]?["ending"] == .string("connection-lost"))
        #expect(object["attempts"]?[1]?["ending"] == .string("answered"))
        let gaps = try #require(object["gaps"]?.array, "\(result.outputText)")
        let samples = try #require(try bench.onlyTake()?.samples)
        let expected = VirtualMicrophone.pcm(samples.count / 2)
        // What did not fit into the ring; on a busy machine it may overrun again behind that.
        var (position, most) = (0, 0)
        for gap in gaps {
            #expect(gap["cause"] == .string("overrun"))
            let start = 2 * Int(try #require(gap["start"]?.number))
            let lost = Int(try #require(gap["frames"]?.number))
            #expect(samples[position..<start] == expected[position..<start])
            position = start + 2 * lost
            #expect(samples[start..<position].allSatisfy { $0 == 0 })
            most = max(most, lost)
        }
        #expect(samples[position...] == expected[position...])
        #expect(most >= 16_000)
        let isDelivered = server.requests.last?.body == samples
        #expect(isDelivered)
    }

    @Test func whatWasBroughtIntoTheForegroundHearsEnter() async throws {
        let terminal = try PseudoTerminal()
        let run = try bench.startShell(
            #""$0" & read line; echo before; fg"#, [], terminal: terminal)
        #expect(await run.wait(for: "stop with: kill -USR1", in: .screen))
        _ = try #require(await server.wait(untilBytes: 8_000))
        // The shell's line, not a stop.
        try terminal.type("\n")
        #expect(await run.wait(for: "before", in: .output))
        let sent = try #require(server.requests.first?.body.count)
        _ = try #require(await server.wait(untilBytes: sent + 32_000))
        try terminal.type("\n")
        let result = try await run.result()
        #expect(result.status == .exited(0), "\(result.screenText)")
        #expect(result.outputText.hasSuffix("heard\n"))
    }

    @Test func aTerminalThatIsClosedLosesNothing() async throws {
        let terminal = try PseudoTerminal()
        let run = try bench.start([], input: .terminal, terminal: terminal, outputOnTerminal: true)
        let sent = try #require(await server.wait(untilBytes: 32_000))
        run.hangUp()
        #expect(try await run.result().status == .exited(129))
        let take = try #require(try bench.onlyTake())
        #expect(try take.manifest["state"] == .string("kept"))
        let samples = try #require(try take.samples)
        #expect(samples.starts(with: sent.body))
        #expect(samples == VirtualMicrophone.pcm(samples.count / 2))
    }

    @Test(arguments: [(SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
    func whoeverEndsASessionDoesNotWaitForTheDisk(_ signal: Int32, _ status: Int32) async throws {
        let disk = try SlowDisk(delay: .ages)
        let run = try bench.start([], variables: disk.environment)
        _ = try #require(await server.wait(untilBytes: 16_000))
        run.signal(signal)
        #expect(await run.wait(for: "utter: kept: ", in: .error))
        #expect(try await run.result().status == .exited(status))
        let kept = try #require(try bench.onlyTake()?.samples)
        #expect(kept == VirtualMicrophone.pcm(kept.count / 2))
    }

    /// Not with the thread sanitizer, which maps a file of its own when a program starts.
    @Test(.enabled(if: unsafe getenv("TSAN_OPTIONS") == nil))
    func aFileThatMayNotGrowIsSaidAndDoesNotEndTheProgram() async throws {
        // 64 blocks of 512 bytes, which is one second.
        let result = try await bench.startShell(
            #"ulimit -f 64; exec "$0" "$@""#, ["--for", "2500ms", "--json"]
        ).result()
        #expect(result.status == .exited(0))
        let object = try ParsedJSON(result.output)
        #expect(object["unprotected"]?.string?.contains("File too large") == true)
        #expect(server.requests.first?.body == VirtualMicrophone.pcm(40_000))
    }

    @Test func twoProgramsRecordAtOnce() async throws {
        let cards = [try VirtualMicrophone(), try VirtualMicrophone()]
        // Their folders are needed until the end.
        defer { withExtendedLifetime(cards) {} }
        let runs = try cards.map {
            try bench.start(["--for", "2s", "--keep-audio", "1d"], variables: $0.environment)
        }
        for run in runs {
            let result = try await run.result()
            #expect(result.status == .exited(0), "\(result.errorText)")
            #expect(result.outputText == "heard\n")
        }
        let takes = try bench.takes()
        #expect(takes.count == 2)
        for take in takes { #expect(try take.samples == VirtualMicrophone.pcm(32_000)) }
    }

    /// ALSA's "file" over "null": its ring is always full, and nothing is lost for it.
    @Test func aDeviceWithoutAClockLosesNothing() async throws {
        let folder = try TemporaryFolder()
        let samples = VirtualMicrophone.pcm(48_000)
        let raw = try folder.write(samples, to: "in.raw")
        let configuration = """
            pcm.null { type null }
            pcm.default {
                type file
                slave.pcm "null"
                file "/dev/null"
                infile "\(raw)"
                format "raw"
            }
            """
        let path = try folder.write(Array(configuration.utf8), to: "asound.conf")
        let result = try await bench.start(
            ["--for", "2s"], variables: ["ALSA_CONFIG_PATH": path]
        ).result()
        #expect(result.status == .exited(0))
        #expect(!result.errorText.contains("were lost"), "\(result.errorText)")
        let isSame = server.requests.first?.body == Array(samples[..<64_000])
        #expect(isSame)
    }

    /// With too few of them any command ends before its words are looked at, and what makes no take
    /// needs no more than a take: some limits stand for all.
    @Test(arguments: [4, 6, 22, 24, 26, 27, 28, 30, 32, 40])
    func tooFewDescriptorsAreAMessageAndAStatus(_ limit: Int) async throws {
        let takes = [["--for", "200ms"], ["send", Clip.digits.path]]
        let others = [["list"], ["play", "last"], ["--version"]]
        for arguments in takes + ([24, 28, 40].contains(limit) ? others : []) {
            // The leak checker needs descriptors of its own.
            let result = try await bench.startShell(
                #"ulimit -n \#(limit); ASAN_OPTIONS=detect_leaks=0 exec "$0" "$@""#, arguments
            ).result()
            guard case .exited(let status) = result.status else {
                Issue.record("\(arguments) ended with \(result.status)")
                continue
            }
            if status != 0 { #expect(result.errorText.contains("utter: ")) }
            let isTake = takes.contains(arguments)
            if status == 0, isTake { #expect(result.outputText == "heard\n", "\(arguments)") }
            // A device or a file that cannot be opened for want of a descriptor is not missing.
            if limit < 26 || (isTake && status != 0) {
                #expect(status == 74, "\(arguments): \(result.errorText)")
                #expect(result.errorText.contains("utter: hint: raise the limit with: ulimit -n"))
            }
        }
    }

    /// Swift reads the command line there; not with a sanitizer, which reads more there.
    @Test(
        .enabled(if: NameService.isAvailable, "needs a mount of its own"),
        .disabled(if: Sanitizer.isUsed))
    func aCommandLineThatCannotBeReadIsNotAnEmptyOne() async throws {
        let script = #"mount -t tmpfs none /proc && exec "$0" "$@""#
        let result = try await bench.startShell(
            #"exec unshare -Urm sh -c '\#(script)' "$0" "$@""#, ["rm", "last"]
        ).result()
        #expect(result.status == .exited(74))
        #expect(result.outputText.isEmpty)
        #expect(
            result.errorText == """
                utter: error: the command line cannot be read from /proc/self/cmdline
                utter: hint: mount it with: mount -t proc proc /proc

                """)
    }

    /// Not with a sanitizer, which needs more of both for itself.
    @Test(
        .disabled(if: Sanitizer.isUsed),
        arguments: [
            // Less memory than a take needs, in KiB, and stacks of which there is room for one.
            ("-v 80000", "ulimit -v unlimited"),
            ("-s 100000000000", "ulimit -u unlimited; ulimit -v unlimited"),
        ])
    func tooLittleMemoryOrThreadsAreAMessageAndAStatus(
        _ limit: String, _ hint: String
    ) async throws {
        let result = try await bench.startShell(
            #"ulimit \#(limit) && exec "$0" "$@""#, ["send", Clip.digits.path]
        ).result()
        #expect(result.status == .exited(74))
        #expect(result.errorText.contains("utter: error: "))
        #expect(
            result.errorText.hasSuffix(
                "utter: hint: raise the limit\(hint.contains(";") ? "s" : "") with: \(hint)\n"))
    }
}
