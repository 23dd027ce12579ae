// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter
@testable import UtterControl

/// Where the text of a take goes that ends by itself, or by a stop that names no place.
@Suite struct PressPlacesTests {
    private let desk: Desk
    private let folder: TemporaryFolder
    private let bench: ControlBench

    init() throws {
        (desk, folder) = (try Desk(), try TemporaryFolder())
        try desk.add("wtype")
        bench = try ControlBench(
            .hearing("heard"),
            desk.wayland.merging(["UTTER_FOREGROUND": "false"]) { $1 })
    }

    private func ends() async -> Bool { await comesTrue { [bench] in !bench.hasSocket } }

    @Test func aToggleThatEndsByItselfTypes() async throws {
        for number in 0...1 {
            let toggle = try await bench.run("toggle", "--type", "--max", "300ms")
            // The second press is the next take.
            #expect(toggle.errorText.hasPrefix("utter: recording take "))
            #expect(await ends())
            #expect(bench.server.requests.count == number + 1)
        }
        #expect(desk.text(of: "wtype") == "heard")
        #expect(try await bench.run("stop").status == .exited(67))
    }

    @Test func filesAndCommandsAreThoseOfTheStart() async throws {
        let (text, object) = (folder.path("text"), folder.path("object"))
        _ = try await bench.run(
            "start", "--json", "-o", object, "--run", "/bin/cat >'\(text)'", "--max", "300ms")
        #expect(await ends())
        #expect(try folder.read("text") == Array("heard\n".utf8))
        #expect(try ParsedJSON(folder.read("object"))["text"] == .string("heard"))
    }

    @Test func theSettingsCountToo() async throws {
        try bench.bench.configure("output.to = 'type'\n")
        _ = try await bench.run("start", "--max", "300ms")
        #expect(await ends())
        #expect(desk.text(of: "wtype") == "heard")
    }

    /// A stop without a place prints the text beside; with one, its place alone counts.
    @Test func aTextIsTypedOnce() async throws {
        try desk.add("wtype", then: "echo once >>'\(folder.path("typed"))'")
        _ = try await bench.run("start", "--type", "-c", "recording.min=0")
        #expect(try await bench.run("stop").outputText == "heard\n")
        _ = try await bench.run("toggle", "--type", "-c", "recording.min=0")
        #expect(try await bench.run("toggle", "--type", "-c", "recording.min=0").outputText == "")
        #expect(try folder.read("typed") == Array("once\nonce\n".utf8))
        let file = folder.path("file")
        _ = try await bench.run("start", "--type", "-c", "recording.min=0")
        #expect(try await bench.run("stop", "-o", file).outputText == "")
        #expect(try folder.read("file") == Array("heard\n".utf8))
        #expect(try folder.read("typed") == Array("once\nonce\n".utf8))
    }

    @Test func aTextThatIsNotTypedWaitsForAStop() async throws {
        try desk.add("wtype", then: "exit 3")
        _ = try await bench.run("start", "--type", "--max", "300ms")
        #expect(try await bench.reaches(.idle))
        let stop = try await bench.run("stop")
        #expect(stop.outputText == "heard\n")
        #expect(stop.errorText.contains("utter: error: --type: wtype ended with status 3\n"))
    }

    @Test func aDaemonTakesNamesAndNothingFromElsewhere() async throws {
        let daemon = try await bench.daemon()
        #expect(try await bench.run("start", "--type").status == .exited(0))
        _ = try #require(await bench.server.wait(untilBytes: 8_000))
        #expect(try await bench.run("stop").outputText == "heard\n")
        #expect(desk.text(of: "wtype") == "heard")
        for words in [["-o", "x"], ["--run", "cat"], ["--json"]] {
            #expect(try await bench.bench.start(["start"] + words).result().status == .exited(64))
        }
        for (option, variables) in [
            ("--type", ["SSH_CONNECTION": "1"]), ("--notify", ["UTTER_SOCKET": bench.place.path]),
        ] {
            let start = try bench.start("start", option, variables: variables)
            #expect(try await start.result().status == .exited(64), "\(option)")
        }
        // A program of another name, as the ssh is that forwards a connection.
        for member in [#","places":["type"]"#, #","notify":true"#] {
            let client = try bench.ask("start", member)
            #expect(try await client.rest().contains("comes from another session"))
        }
        #expect(try await bench.status().phase == .idle)
        try await daemon.terminate()
    }
}
