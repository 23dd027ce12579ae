// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite struct ServeTests {
    private let grammar = Bench.grammar

    @Test func itPrintsItsUrlRecognisesWhatItCanReadAndEndsWithCtrlC() async throws {
        let bench = try Bench()
        let (server, url) = try await bench.serve("--grammar", grammar)
        let upload = try await bench.run("send", "--to", url, Clip.goForward.path)
        #expect(upload.status == .exited(0))
        #expect(upload.outputText == "go forward ten meters\n")
        let key = "utter-key-" + String(repeating: "0123456789abcdef", count: 4)
        let file = try bench.folder.write(Array("\(key)\n".utf8), to: "key")
        let secret = try await bench.run(
            "send", "--to", url, "-c", "body.key-file=\(file)", Clip.goForward.path)
        #expect(secret.status != .exited(0))
        #expect(secret.errorText.contains("the body is encrypted, and this endpoint has no key"))
        server.signal(SIGINT)
        Self.expectQuietEnd(try await server.result())
    }

    private static func expectQuietEnd(_ end: CommandResult) {
        #expect(end.status == .exited(0))
        #expect(end.output.isEmpty)
        #expect(end.hasPlainErrors)
        #expect(!end.errorText.contains("POST"))
    }

    @Test func itSaysHowToTryItAndALineForEachRequest() async throws {
        let bench = try Bench()
        let (server, url) = try await bench.serve("-v", "--grammar", grammar)
        #expect(
            await server.wait(for: "try it with: utter send --to \(url) FILE.wav\n", in: .error))
        let result = try await bench.run(
            "send", "--to", url + "?key=sesame", "--format", "wav", Clip.goForward.path)
        #expect(result.status == .exited(0))
        #expect(await server.wait(for: "of audio: 200 in ", in: .error))
        server.signal(SIGTERM)
        let text = try await server.result().errorText
        let request = /1:\d+ POST \/recognize audio\/wav, \d+ bytes, 2\.79 s of audio: 200 in \d/
        #expect(text.contains(request), "\(text)")
        #expect(!text.contains("sesame"))
    }

    // MARK: - The desktop

    @Test func aRecogniserOfTheDesktopIsFoundAtItsSocket() async throws {
        let runtime = try TemporaryFolder()
        let bench = try Bench(["XDG_RUNTIME_DIR": runtime.path])
        let (server, _) = try await bench.serve("--listen", "unix:", "--grammar", grammar)
        #expect(await server.wait(for: "listening on unix:/", in: .error))
        for options in [["--to", "unix:"], ["--service", "desktop"]] {
            let result = try await bench.start(["send"] + options + [Clip.goForward.path]).result()
            #expect(result.outputText == "go forward ten meters\n", "\(result.errorText)")
        }
        let check = try await bench.run("services", "check", "desktop")
        #expect(check.outputText.contains("request   WebSocket unix:/"), "\(check.errorText)")
        server.signal(SIGTERM)
        _ = try await server.result()
        let gone = try await bench.run(
            "send", "-c", "retry.never=true", "--to", "unix:", Clip.goForward.path)
        #expect(
            gone.errorText.contains("start it in another terminal: utter serve --listen unix:"))
    }

    @Test func aSocketHasOneRecogniserAtATime() async throws {
        let bench = try Bench()
        let path = bench.folder.path("ear")
        let (first, _) = try await bench.serve("--listen", "unix:\(path)", "--grammar", grammar)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let second = try await bench.run("serve", "--port", "0", "--listen", "unix:\(path)")
        #expect(second.status == .exited(78))
        #expect(second.errorText.contains("another program listens at unix:\(path)"))
        // A program that was killed leaves its socket, which the next one takes over.
        first.signal(SIGKILL)
        _ = try await first.result()
        #expect(access(path, F_OK) == 0)
        let (third, _) = try await bench.serve("--listen", "unix:\(path)", "--grammar", grammar)
        let sent = try await bench.run("send", "--to", "unix:\(path)", Clip.goForward.path)
        #expect(sent.outputText == "go forward ten meters\n")
        third.signal(SIGTERM)
        _ = try await third.result()
        #expect(access(path, F_OK) != 0)
    }

    @Test func aRecognitionThatRunsIsFinishedBeforeItEnds() async throws {
        let bench = try Bench()
        let (server, url) = try await bench.serve("--grammar", grammar)
        let run = try bench.start(["send", "-v", "--to", url, "-"], input: .pipe)
        let samples = try Clip.goForward.samples
        run.write(Array(samples[..<40_000]))
        // A text for the first half: the recognition runs.
        #expect(await run.wait(for: "heard: ", in: .error))
        server.signal(SIGTERM)
        run.write(Array(samples[40_000...]))
        run.closeInput()
        #expect(try await run.result().outputText == "go forward ten meters\n")
        Self.expectQuietEnd(try await server.result())
    }

    @Test func whatItCannotServeIsStatus78AndNamed() async throws {
        let (bench, other) = (try Bench(), try RecordingServer())
        let key = try bench.folder.write(Array("sesame\n".utf8), to: "key")
        chmod(key, 0o644)
        let words = try bench.folder.write(Array("a long passphrase of mine\n".utf8), to: "words")
        for (options, reason) in [
            (["--port", "0", "--token-file", key], "can be read by others"),
            (["--port", "0", "--key", words], "does not hold a random key"),
            (["--port", "\(other.port)", "--grammar", grammar], "\(other.port)"),
            (["--port", "0", "--grammar", "missing.gram"], "missing.gram"),
        ] {
            let result = try await bench.start(["serve"] + options).result()
            #expect(result.status == .exited(78))
            #expect(result.output.isEmpty)
            #expect(result.errorText.contains(reason), "\(result.errorText)")
            #expect(result.hasPlainErrors)
        }
    }

    @Test(arguments: [
        ["--port", "70000"], ["--max-recognitions", "0"], ["--max-body", "0"], ["--bogus"],
    ])
    func aWrongOptionIsNamed(_ options: [String]) async throws {
        let result = try await Bench().start(["serve"] + options).result()
        #expect(result.status == .exited(64))
        #expect(result.output.isEmpty)
        #expect(result.errorText.hasPrefix("utter: error: "), "\(result.errorText)")
        #expect(result.errorText.prefix { $0 != "\n" }.contains(options[0]))
    }

    // MARK: - Another recogniser

    /// A program that says how many bytes of sound have come; it opens a pipe for the test to see its end.
    private func ear(in bench: Bench) throws -> String {
        let path = try bench.folder.writeProgram(
            #"""
            import json, os, signal, sys
            if len(sys.argv) > 1:
                os.open(sys.argv[1], os.O_WRONLY)
            source = sys.stdin.buffer
            while True:
                print(json.dumps({"ready": {"name": "counter"}}), flush=True)
                line = source.readline()
                if not line:
                    break
                count = 0
                while not ("end" in line.decode() or "cancel" in line.decode()):
                    command = json.loads(source.readline())
                    count += len(source.read(command.get("audio", 0)))
                    line = b"end" if command.get("end") else b"cancel" if command.get("cancel") else b""
                if line == b"end":
                    secrets = sum("TOKEN" in name or "UTTER" in name for name in os.environ)
                    print(json.dumps({"final": f"{count} {secrets}", "end": True}), flush=True)
            while len(sys.argv) > 1:
                signal.pause()
            """#, to: "ear.py")
        return "python3 \(path)"
    }

    @Test func aProgramThatIsNamedRecognises() async throws {
        let bench = try Bench(["OTHER_TOKEN": "secret"])
        let (server, url) = try await bench.serve("--recogniser", try ear(in: bench))
        let result = try await bench.run("send", "--to", url, Clip.goForward.path)
        #expect(result.outputText == "89160 0\n")
        server.signal(SIGTERM)
        let end = try await server.result()
        #expect(end.status == .exited(0))
        #expect(end.errorText.hasPrefix("utter: the recogniser is counter\n"), "\(end.errorText)")
    }

    @Test(
        arguments: [
            (["serve", "--port", "0", "--recogniser"], SIGINT, 130),
            (["serve", "--port", "0", "--recogniser"], SIGTERM, 143),
            (["serve", "--check-recogniser"], SIGTERM, 143),
            (["demo", "--recogniser"], SIGINT, 130),
        ] as [([String], Int32, Int32)])
    func aProgramThatDoesNotComeUpHoldsNoSignal(
        _ words: [String], _ signal: Int32, _ status: Int32
    ) async throws {
        let bench = try Bench()
        let pipe = try LifePipe(in: bench.folder)
        // It never says that it is ready, and ignores the end of its input.
        let run = try bench.start(words + ["echo up >\(pipe.path); sleep 86400 >\(pipe.path)"])
        #expect(await pipe.isUp())
        run.signal(signal)
        let result = try await run.result()
        #expect(result.status == .exited(status), "\(result.errorText)")
        #expect(result.output.isEmpty)
        // No process of it is left that could write.
        #expect(await pipe.isClosed())
    }

    @Test func aProgramEndsWithAnEndpointThatIsKilled() async throws {
        let bench = try Bench()
        let pipe = try LifePipe(in: bench.folder)
        let (server, _) = try await bench.serve(
            "--recogniser", try ear(in: bench) + " \(pipe.path)")
        server.signal(SIGKILL)
        // The program ignores the end of its input; the pipe is closed by nothing but its own end.
        #expect(await pipe.isClosed())
    }

    @Test func theCheckOfAProgramPrintsALineForEachThing() async throws {
        let bench = try Bench()
        let good = try await bench.run("serve", "--check-recogniser", try ear(in: bench))
        #expect(good.status == .exited(0))
        let lines = good.outputText.split(separator: "\n")
        #expect(lines.count == 6)
        #expect(lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(good.outputText)")
        #expect(lines.first == "ok: it says that it is ready: counter")
        let bad = try await bench.run("serve", "--check-recogniser", "echo hello")
        #expect(bad.status == .exited(78))
        #expect(bad.outputText.hasPrefix("failed: it says that it is ready: "))
        #expect(bad.outputText.contains("hello"))
    }

    // MARK: - From other machines

    @Test func aClientOfOpenAIsUsesItThroughAWebServerWithTLSAndAToken() async throws {
        let bench = try Bench()
        let token = try bench.folder.write(Array("sesame\n".utf8), to: "token")
        let (server, url) = try await bench.serve("--grammar", grammar, "--token-file", token)
        let port = url.split(separator: ":").last?.prefix { $0.isNumber }
        let front = try await TLSFront(to: try #require(port.flatMap { UInt16($0) }))
        for (key, status) in [(token, Int32(0)), (nil, 77)] {
            let result = try await bench.start(
                ["send", "--service", "openai", "--to", front.url("/v1/audio/transcriptions")]
                    + ["-c", "connection.ca-file=\(front.certificateFile)", Clip.goForward.path]
                    + (key.map { ["--token-file", $0] } ?? [])
            ).result()
            #expect(result.status == .exited(status), "\(result.errorText)")
            #expect(result.outputText == (status == 0 ? "go forward ten meters\n" : ""))
        }
        // Another client, which reads subtitles.
        let subtitles = try ForeignTool("curl").run([
            "-s", "--cacert", front.certificateFile, "-H", "Authorization: Bearer sesame", "-F",
            "response_format=srt", "-F", "file=@\(Clip.goForward.path)",
            front.url("/v1/audio/transcriptions"),
        ]).output
        #expect(String(decoding: subtitles, as: UTF8.self).contains("go forward ten meters"))
        server.signal(SIGTERM)
        #expect(!(try await server.result().errorText.contains("sesame")))
    }

    // MARK: - The demo

    @Test func theDemoHearsItsSampleWithPartialsBeforeTheEnd() async throws {
        let bench = try Bench()
        let result = try await bench.run("demo", "--grammar", grammar)
        #expect(result.status == .exited(0))
        // By an upload, and over a WebSocket.
        #expect(result.outputText == "go forward ten meters\ngo forward ten meters\n")
        let accounts = result.errorText.ranges(of: "answer complete")
        try #require(accounts.count == 2, "\(result.errorText)")
        for errors in [
            result.errorText[..<accounts[0].lowerBound],
            result.errorText[accounts[0].upperBound...],
        ] {
            let partial = try #require(errors.firstRange(of: "heard: go"))
            let end = try #require(errors.firstRange(of: "recording ended"))
            #expect(partial.lowerBound < end.lowerBound)
        }
        #expect(result.errorText.contains("/utter-demo-"))
        // It is no take of the person's.
        #expect(try bench.takes().isEmpty)
    }

    @Test func theDemoPrintsJson() async throws {
        let result = try await Bench().run(
            "demo", "--json", "--pace", "max", "--grammar", grammar, Clip.goForward.path)
        #expect(result.status == .exited(0))
        let object = try ParsedJSON(result.output)
        #expect(object["text"] == .string("go forward ten meters"))
    }

    @Test func theDemoOfAMissingFileIsStatus66() async throws {
        let result = try await Bench().run("demo", "--grammar", grammar, "missing.wav")
        #expect(result.status == .exited(66))
        #expect(result.errorText.contains("cannot open 'missing.wav'"))
    }

    @Test func ctrlCEndsTheDemo() async throws {
        let run = try Bench().start(["demo", "--grammar", grammar, Clip.speech.path])
        #expect(await run.wait(for: "connected", in: .error))
        run.signal(SIGINT)
        #expect(try await run.result().status == .exited(130))
    }
}
