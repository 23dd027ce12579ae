// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What programs read is as the schemas say that come with the program.
@Suite struct SchemaTests {
    private static let words = """
        {"type":"partial","text":"go"}
        {"type":"final","text":"go forward","words":[{"word":"go","start":0.1,"end":0.4}]}

        """

    /// A take that is answered, one that is refused, one without audio, and silence.
    private func bench() throws -> (Bench, [String]) {
        let server = try RecordingServer(
            scripts: [
                .answer(text: Self.words), .answer(status: 413, text: "too long"),
                .answer(status: 503, text: "busy"), .answer(text: #"{"text": ""}"#),
            ], otherwise: .answer(text: "again"))
        let bench = try Bench(server: server)
        let garbage = try bench.folder.write(Array("no audio".utf8), to: "garbage.wav")
        return (
            bench,
            [
                Clip.digits.path, Clip.goForward.path, Clip.cards.path, garbage,
                Clip.digits.path, "/none.wav",
            ]
        )
    }

    @Test func theObjectsOfJsonAndOfTheListAreAsTheirSchemasSay() async throws {
        let (bench, files) = try bench()
        let result = try await bench.start(["send", "--json", "-c", "retry.never=true"] + files)
            .result()
        #expect(try Schema(name: "outcome").judge(result.output) == files.count)
        mkdir(bench.folder.path("state/utter/takes/not-a-take"), 0o700)
        let list = try await bench.run("list", "--json")
        #expect(try Schema(name: "list").judge(list.output) == 1)
        #expect(list.outputText.contains("\"foreign\""))
        #expect(list.outputText.contains("\"kept\""))
    }

    @Test func bothSchemasSayTheSameOfAnOutcome() throws {
        func schema(_ name: String) throws -> ParsedJSON {
            try ParsedJSON(readFile(SourceTree.path("docs/\(name).schema.json")))
        }
        guard case .object(let alone) = try schema("outcome"),
            case .object(let inEvents)? = try schema("events")["$defs"]?["outcome"]
        else {
            Issue.record("no objects")
            return
        }
        #expect(alone.filter { $0.key != "$schema" } == inEvents)
    }

    @Test(arguments: ["outcome", "events", "list"])
    func eachMemberIsDescribed(_ name: String) throws {
        func judge(_ schema: ParsedJSON, _ place: String) {
            guard case .object(let parts) = schema else { return }
            if case .object(let members)? = parts["properties"] {
                for (name, member) in members {
                    #expect(member["description"]?.string?.isEmpty == false, "\(place).\(name)")
                }
            }
            for (name, part) in parts { judge(part, "\(place).\(name)") }
        }
        judge(try ParsedJSON(readFile(SourceTree.path("docs/\(name).schema.json"))), name)
    }

    @Test func theEventsAreAsTheSchemaSays() async throws {
        let (bench, files) = try bench()
        let result = try await bench.start(["send", "--events"] + files).result()
        let events = try result.output.split(separator: 0x0A).map { try ParsedJSON(Array($0)) }
        #expect(try Schema(name: "events").judge(result.output) == events.count)
        let first = events.filter { $0["file"]?.string == files[0] }.compactMap {
            $0["event"]?.string
        }
        #expect(first.prefix(1) == ["listening"])
        #expect(first.suffix(1) == ["outcome"])
        for name in ["connected", "heard", "captured"] { #expect(first.contains(name), "\(first)") }
        let outcomes = events.filter { $0["event"]?.string == "outcome" }
        #expect(outcomes.count == files.count)
        #expect(outcomes.first?["outcome"]?["text"] == .string("go forward"))
    }

    @Test func theEventsOfAVoiceAreAsTheSchemaSaysAndItsTextGoesToAFile() async throws {
        let bench = try Bench(server: .hearing(Self.words), microphone: try VirtualMicrophone())
        let path = bench.folder.path("note.txt")
        let result = try await bench.run("--for", "500ms", "--events", "-o", path)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(try Schema(name: "events").judge(result.output) > 3)
        #expect(result.outputText.contains(#""event":"progress""#))
        #expect(try readFile(path) == Array("go forward\n".utf8))
    }

    @Test func aFailureBeforeATakeIsAnEvent() async throws {
        let bench = try Bench()
        let result = try await bench.run(
            "--events", "-c", "auth.credential=missing", "--for", "1s")
        #expect(result.status == .exited(78))
        #expect(try Schema(name: "events").judge(result.output) == 1)
        let event = try ParsedJSON(result.output)
        #expect(event.names == ["event", "atMs", "outcome"])
        #expect(event["event"] == .string("outcome"))
        #expect(event["outcome"]?["id"] == .null)
        #expect(event["outcome"]?["exit"] == .number(78))
        #expect(try bench.takes().isEmpty)
    }

    @Test func jsonIsHarmlessToATerminal() async throws {
        let bench = try Bench(
            server: .hearing(#"{"text": "a\u009b2J\u202eb\u007f\u001b[31mc"}"#))
        let result = try await bench.run("send", "--json", Clip.digits.path)
        let text = try #require(try ParsedJSON(result.output)["text"]?.string)
        #expect(text == "abc")
        let listed = try await bench.run("list", "--json")
        for output in [result.outputText, listed.outputText] {
            let isHarmless = output.unicodeScalars.allSatisfy {
                $0 == "\n"
                    || $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
                        && $0.value != 0x202E
            }
            #expect(isHarmless, "\(output)")
        }
    }

    @Test func partialsAreLinesOnStandardError() async throws {
        let gate = Gate()
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd,
                .beginResponse(
                    status: 200, headers: [.init("Content-Type", "application/x-ndjson")]),
                .sendBodyChunk(text: "{\"type\":\"partial\",\"text\":\"go \u{9B}2J\"}\n"),
                .stallUntil(gate),
                .sendBodyChunk(text: "{\"type\":\"final\",\"text\":\"go forward\"}\n"),
                .endResponse,
            ])
        let run = try Bench(server: server).start([
            "send", "-q", "-c", "output.partials=true", Clip.digits.path,
        ])
        #expect(await run.wait(for: "utter: partial: go\n", in: .error))
        gate.open()
        let result = try await run.result()
        #expect(result.outputText == "go forward\n")
        #expect(result.errorText == "utter: partial: go\n")
    }
}
