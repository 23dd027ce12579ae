// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

/// The endpoint's page in Chromium, whose microphone hears a file of `samples`.
@Suite(
    .enabled(if: Peer.folder != nil && ForeignTool("chromium").path != nil), .timeLimit(.minutes(5))
)
struct PagePeerTests {
    private static let grammar = ["--grammar", SourceTree.path("samples/grammar/demo.gram")]
    private static let text = "go forward ten meters"

    @Test func speechAndFilesBecomeTexts() async throws {
        let page = try await Served(Self.grammar)
        let sound = Data(try readFile(SourceTree.path("samples/go-forward.wav")))
        let seen = try await page.see([
            "until(() => !speak.disabled)",
            "location.href",
            "speak.click(); until(() => take)",
            // The recording has 2.8 s.
            "until(() => parseFloat(list.innerText.split('microphone · ')[1]) >= 4)",
            "speak.click(); until(() => list.innerText.includes('text in'))",
            "list.innerText",
            // The session cannot be opened: what was spoken goes as a file.
            "globalThis.WebSocket = class { constructor() { throw new Error('no sessions') } }; 0",
            "speak.click(); until(() => take)",
            "until(() => parseFloat(list.innerText.split(' s, the session was lost (no sessions)')[0].split('microphone · ')[1]) >= 1)",
            "speak.click(); until(() => list.children.length === 2 && list.firstChild.innerText.includes('text in'))",
            Self.drop(sound, as: "go-forward.wav"),
            "until(() => list.children.length === 3 && list.firstChild.innerText.includes('text in'))",
            "list.firstChild.innerText",
            Self.drop(Data("this is no sound".utf8), as: "note.wav"),
            "until(() => list.children.length === 4 && list.firstChild.innerText.includes('Not recognised'))",
            "list.firstChild.innerText",
        ])
        #expect(seen[1] == page.origin + "/", "the token stays in the address")
        #expect(seen[5].hasPrefix(Self.text + "\n"), "\(seen[5])")
        #expect(seen[12].hasPrefix(Self.text + "\n") && seen[12].contains("2.8 s of sound"))
        #expect(seen[15].contains("this is not audio") && !seen[15].contains("Save"))
    }

    /// A recogniser that hears marks, and a file whose name is some, too.
    @Test func marksInTextsAreTexts() async throws {
        let bait =
            "<img src=x onerror=document.title='caught'></p><script>document.title='caught'</script>"
        let ear = """
            import json, sys
            tell = lambda value: print(json.dumps(value), flush=True)
            tell({"ready": {"name": sys.argv[1]}})
            for line in sys.stdin.buffer:
                order = json.loads(line)
                sys.stdin.buffer.read(order.get("audio", 0))
                if "end" in order or "cancel" in order:
                    if "end" in order:
                        tell({"final": sys.argv[1] + "\\u2028\\u202e", "end": True})
                    tell({"ready": {"name": sys.argv[1]}})
            """
        let folder = try TemporaryFolder()
        try folder.write(Array(ear.utf8), to: "ear.py")
        try folder.write(Array(bait.utf8), to: "bait")
        let name = "<img src=x onerror=document.title='caught'>\u{202E}.wav"
        let page = try await Served([
            "--recogniser", "python3 \(folder.path("ear.py")) \"$(cat \(folder.path("bait")))\"",
        ])
        let sound = Data(try readFile(SourceTree.path("samples/go-forward.wav")))
        let seen = try await page.see([
            "until(() => !file.disabled)",
            Self.drop(sound, as: name),
            "until(() => list.innerText.includes('text in'))",
            "list.innerText",
            "document.title",
            "String(list.querySelectorAll('img, script, p p').length)",
        ])
        #expect(seen[3].contains(bait))
        #expect(seen[3].contains("\(name) · 2.8 s of sound"))
        #expect(Array(seen[4...]) == ["Speech recognition", "0"])
    }

    @Test func theOperatorSeesAllRequestsAndAsksForFaults() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("right\n".utf8), to: "token")
        let page = try await Served(
            Self.grammar + ["--allow-faults", "--token-file", folder.path("token")])
        let form = "document.getElementById('operator-form')"
        let seen = try await page.see([
            "until(() => !file.disabled)",
            Self.drop(Data("no sound".utf8), as: "a.wav"),
            "until(() => list.innerText.includes('Not recognised'))",
            "byId('operator').open = true; \(form).requestSubmit(); until(() => !byId('operator-notice').hidden)",
            "byId('operator-notice').innerText",
            "byId('operator-token').value = 'right'; \(form).requestSubmit(); until(() => byId('requests').children.length)",
            "byId('requests').innerText",
            "byId('misbehave').value = 'status=418'; 0",
            Self.drop(Data("no sound".utf8), as: "b.wav"),
            "until(() => list.innerText.includes('418'))",
        ])
        #expect(seen[4].contains("for the operator"))
        #expect(seen[6].contains("POST /recognize\t400"))
    }

    private static func drop(_ bytes: Data, as name: String) -> String {
        let name = name.replacing("'", with: "\\'")
        return """
            { const data = new DataTransfer(); \
            const bytes = Uint8Array.from(atob('\(bytes.base64EncodedString())'), (c) => c.charCodeAt(0)); \
            data.items.add(new File([bytes], '\(name)')); \
            document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })); }
            """
    }

    /// An endpoint with its page, which ends with this value.
    private final class Served: Sendable {
        let origin: String
        private let address: String
        private let serve: CommandRun
        private let home: TemporaryFolder

        init(_ options: [String]) async throws {
            home = try TemporaryFolder()
            var environment = CommandRun.cleanEnvironment
            environment["HOME"] = home.path
            let serve = try CommandRun.product(
                "utter-endpoint", ["serve", "--page", "--port", "0"] + options,
                environment: environment)
            self.serve = serve
            let isReady = await comesTrue {
                String(decoding: serve.error, as: UTF8.self).contains("try it with")
            }
            try #require(isReady)
            let said = String(decoding: serve.error, as: UTF8.self)
            let match = try #require(said.firstMatch(of: /browsers: ((http:\/\/[^\/]+)\/#.*)/))
            (address, origin) = (String(match.1), String(match.2))
        }

        deinit { serve.signal(15) }

        /// The values of scripts in a browser that has the page; it has no complaints.
        func see(_ scripts: [String]) async throws -> [String] {
            struct Line: Decodable {
                var value, error: String?
                var complaints: [String]?
            }
            let until = """
                globalThis.until = async (test) => { for (let turn = 0; turn < 1200; turn++) { \
                try { if (test()) return 'true'; } catch {} \
                await new Promise((resolve) => setTimeout(resolve, 50)); } \
                throw new Error('it never came true: ' + test); }; 0
                """
            let browser = try await CommandRun.run(
                try #require(Peer.folder) + "/bin/python3",
                [
                    SourceTree.path("scripts/peer-chromium.py"), home.path("chromium"),
                    SourceTree.path("samples/go-forward.wav"), address,
                ],
                environment: CommandRun.cleanEnvironment.merging(["HOME": home.path]) { $1 },
                input: .bytes(Array(([until] + scripts).joined(separator: "\n").utf8) + [10]),
                within: .patience * 4)
            #expect(browser.status == .exited(0), "\(browser.errorText)")
            let lines = try browser.outputText.split(separator: "\n").dropFirst().map {
                try JSONDecoder().decode(Line.self, from: Data($0.utf8))
            }
            #expect(lines.compactMap(\.error) == [])
            let complaints = lines.last?.complaints ?? ["none came"]
            // Answers with a status that says what is wrong.
            #expect(complaints.filter { !$0.contains("Failed to load resource") } == [])
            try #require(lines.count == scripts.count + 1)
            return lines.dropLast().map { $0.value ?? "" }
        }
    }
}
