// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `utter rm` and its way back.
@Suite struct RemoveTests {
    private let bench: Bench

    init() throws { bench = try Bench(server: .hearing("heard")) }

    private func removed(on bench: Bench? = nil) throws -> [String] {
        // Without a removed take there is no folder.
        (try? (bench ?? self.bench).folder.names(in: "state/utter/removed")) ?? []
    }

    @Test func whatIsNamedComesBackUnlessItWentForGoodAndThatIsSaid() async throws {
        let (first, second) = (try await bench.keep(), try await bench.keep(.digits))
        let result = try await bench.here("rm", first.shortName)
        #expect(result.status == .exited(0))
        #expect(
            result.errorText
                == "utter: removed \(first.id), 0:02.7, never delivered\n"
                + "utter: hint: bring it back within a day with: utter rm --undo\n")
        #expect(result.output.isEmpty)
        #expect(try bench.takes().map(\.id) == [second.id])
        // It is nowhere, to everything else.
        #expect(try await bench.here("show", first.id).status == .exited(66))
        let undo = try await bench.here("rm", "--undo")
        #expect(undo.errorText == "utter: brought back \(first.id), 0:02.7, never delivered\n")
        #expect(Set(try bench.takes().map(\.id)) == [first.id, second.id])
        let nothing = try await bench.here("rm", "--undo")
        #expect(nothing.status == .exited(66))
        #expect(nothing.errorText == "utter: error: nothing was removed within the last day\n")

        let now = try await bench.here("rm", "--now", first.id)
        #expect(now.errorText == "utter: removed for good: \(first.id), 0:02.7, never delivered\n")
        #expect(try removed().isEmpty)
        // A take that was removed before goes as well.
        _ = try await bench.here("rm", second.id)
        #expect(try removed() == [second.id])
        #expect(try await bench.here("rm", "--now", second.shortName).status == .exited(0))
        #expect(try removed().isEmpty)
        #expect(try await bench.here("rm", "--now", second.id).status == .exited(66))
    }

    /// What a service has of it goes, too, or that is said.
    @Test(arguments: [(204, false), (404, false), (405, false), (204, true)])
    func anUploadThatNeverEndedIsDropped(_ status: Int, isInParts: Bool) async throws {
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd,
                .respondBy { request in
                    let place = HeaderField("Location", "/files/secret")
                    let query = request.target.split(separator: "?").dropFirst().first
                    return switch (request.method, query) {
                    case ("POST", "uploads"):
                        ServerAnswer(text: "<R><UploadId>u 1</UploadId></R>")
                    case ("POST", _): ServerAnswer(status: 201, headers: [place], text: "")
                    case ("DELETE", _): ServerAnswer(status: status, text: "")
                    default: ServerAnswer(status: 503, text: "")
                    }
                },
            ])
        let bench = try Bench([
            "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "sesame",
        ])
        try bench.writeProfile(
            "extends = 's3'\nurl = '\(server.url())voices/{key}'\n[exchange]\nsmallest = 10000\n",
            to: "there")
        let place =
            isInParts
            ? ["--service", "there", "--to", "s3://voices/a.wav"]
            : ["--service", "tus", "--to", server.url("/files/")]
        let sent = try await bench.start(
            ["send", "-q", "-c", "retry.never=true"] + place + [Clip.goForward.path]
        ).result()
        #expect(sent.status == .exited(75), "\(sent.errorText)")
        let removed = try await bench.run("rm", "-y", "--now", "last")
        #expect(removed.status == .exited(0))
        #expect(try bench.takes().isEmpty)
        let last = try #require(server.requests.last)
        let target = isInParts ? "/voices/a.wav?uploadId=u%201" : "/files/secret"
        #expect((last.method, last.target) == ("DELETE", target))
        let isLeft = removed.errorText.contains("answers with status 405")
        #expect(isLeft == (status == 405), "\(removed.errorText)")
    }

    @Test func allOrTheAnsweredGoAsANumberAndComeBack() async throws {
        let kept = try await bench.keep()
        let sent = try await bench.run("send", "--keep-audio", "1d", Clip.digits.path)
        #expect(sent.status == .exited(0))
        #expect(try bench.takes().count == 2)
        let all = try await bench.here("rm", "all")
        #expect(all.status == .exited(0))
        #expect(
            all.errorText.hasPrefix(
                "utter: removed \(kept.id), 0:02.7, never delivered\nutter: removed 1 take\n"))
        #expect(try bench.takes().isEmpty)
        #expect(try await bench.here("rm", "--undo", "all").status == .exited(0))
        #expect(try bench.takes().count == 2)

        _ = try await bench.run("send", "-q", Clip.goForward.path)
        let answered = try await bench.here("rm", "--answered")
        #expect(try bench.onlyTake()?.id == kept.id)
        #expect(
            answered.errorText.hasPrefix("utter: removed 2 takes\nutter: hint: bring them back "))
        #expect(try await bench.here("rm", "--undo", "all").status == .exited(0))
        #expect(try bench.takes().count == 3)

        // A person who is sure, or has the text, is not asked.
        for arguments in [["rm", "--yes", kept.id], ["rm", "last"]] {
            let result = try await bench.start(
                arguments, input: .terminal, terminal: try PseudoTerminal()
            ).result()
            #expect(result.status == .exited(0))
            #expect(!result.screenText.contains("[y/N]"))
        }
        #expect(try bench.takes().count == 1)
        #expect(try removed().count == 2)
    }

    @Test func whatWasNeverDeliveredIsAskedFor() async throws {
        let take = try await bench.keep()
        for (answer, isRemoved, status) in [
            ("n\n", false, .exited(0)), ("\n", false, .exited(0)), ("\u{4}", false, .exited(0)),
            ("\u{3}", false, .signalled(SIGINT)), ("y\n", true, .exited(0)),
        ] as [(String, Bool, CommandResult.Status)] {
            let terminal = try PseudoTerminal()
            let run = try bench.start(["rm", "last"], input: .terminal, terminal: terminal)
            #expect(
                await run.wait(
                    for: "utter: remove \(take.id), 0:02.7, never delivered? [y/N] ", in: .screen))
            #expect(try bench.onlyTake()?.id == take.id)
            try terminal.type(answer)
            let result = try await run.result()
            #expect(result.status == status)
            #expect(try bench.takes().map(\.id) == (isRemoved ? [] : [take.id]))
            if status == .exited(0) {
                #expect(result.screenText.contains(isRemoved ? "removed" : "nothing was removed"))
            }
        }
    }

    @Test func aDayLaterItIsGoneAndItsKeyWithIt() async throws {
        let clock = try ClockJump()
        let bench = try Bench(clock.environment)
        let key = try bench.folder.write(
            Array("a key of more than sixteen bytes".utf8), to: "key")
        try #require(chmod(key, 0o600) == 0)
        let take = try await bench.keep(.goForward, "--encrypt-key", key)
        // An open file outlives its name, and shows what was done to it.
        let file = open(take.path + "/audio.wav.encrypted", O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        var before = [UInt8](repeating: 0, count: 120)
        try #require(pread(file, &before, 120, 0) == 120)
        _ = try await bench.run("rm", take.id)
        var head = before
        try #require(pread(file, &head, 120, 0) == 120)
        #expect(head == before)

        try bench.restartMachine()
        try clock.jump(to: 23 * 3_600)
        _ = try await bench.run("flush")
        #expect(try removed(on: bench) == [take.id])
        try bench.restartMachine()
        try clock.jump(to: 25 * 3_600)
        _ = try await bench.run("flush")
        #expect(try removed(on: bench).isEmpty)
        try #require(pread(file, &head, 120, 0) == 120)
        #expect(head != before)
        #expect(try await bench.run("rm", "--undo").status == .exited(66))
    }

    @Test func whatCannotBeRemovedIsSaidWithTheReason() async throws {
        let take = try await bench.keep()
        // Where removed takes would go.
        try bench.folder.write([], to: "state/utter/removed")
        let result = try await bench.here("rm", "-y", "last")
        #expect(result.status == .exited(74))
        #expect(
            result.errorText.contains("utter: error: take \(take.id) cannot be removed: "),
            "\(result.errorText)")
        #expect(result.errorText.contains("utter: hint: look who may write there"))
        #expect(try bench.onlyTake()?.names.contains("audio.wav") == true)
    }
}
