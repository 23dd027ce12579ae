// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import TestSupport
import Testing

@testable import Cryptography
@testable import LinuxPlatform
@testable import TakeStore
@testable import UtterCommands

/// A take as a page, and as a picture in a terminal.
@Suite struct TakePageTests {
    private static let hostile =
        #"</script><img src=x onerror=alert(1)> \"it's\" & \u2028{title} \u202e"#
    private static let answer = """
        {"text": "\(hostile) end", "language": "en\\" onload=\\"alert(1)", "words": [
        {"word": "\(hostile)", "start": 0.4, "end": 1.0}, {"word": "end", "start": 1.1, "end": 1.5}]}
        """

    /// A bench with a take that is answered.
    private func bench(hearing answer: String) async throws -> Bench {
        let bench = try Bench(server: .hearing(answer))
        let sent = try await bench.run("send", "--keep-audio", "1d", try bench.fresh(.goForward))
        #expect(sent.status == .exited(0), "\(sent.errorText)")
        return bench
    }

    private func element(_ name: String, in page: String) throws -> String {
        let parts = page.components("<\(name)>", "</\(name)>")
        return try #require(parts.count == 1 ? parts.first : nil, "\(name): \(parts.count)")
    }

    @Test func noTextOfAServiceIsAMark() async throws {
        let bench = try await self.bench(hearing: Self.answer)
        let path = bench.folder.path("page.html")
        let shown = try await bench.run("show", "--html", "-o", path)
        #expect(shown.status == .exited(0) && shown.outputText == "", "\(shown.errorText)")
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let page = String(decoding: try readFile(path), as: UTF8.self)
        #expect(!page.contains("<img") && !page.contains("{title}<") && !page.contains("\u{2028}"))
        #expect(page.contains("onerror=alert(") && page.contains("&gt;&lt;"))
        #expect(page.contains("&quot;") && page.contains("&#39;") && page.contains("&amp;"))
        #expect(page.contains("<html lang=\"en&quot; onload=&quot;alert(1)\">"))
        // The policy allows what the page has, and nothing else.
        for (kind, name) in [("script", "script"), ("style", "style")] {
            var digest = SHA256()
            digest.update(Array(try element(name, in: page).utf8).span)
            let hash = String(decoding: Base64.encoded(digest.bytes), as: UTF8.self)
            #expect(page.contains("\(kind)-src 'sha256-\(hash)'"))
        }
        #expect(page.contains("default-src 'none'") && !page.contains(" style=\""))
        #expect(page.contains("src=\"data:audio/ogg;base64,T2dn"))
        #expect(page.contains("<span data-from=\"1.1\" data-to=\"1.5\">end</span>"))
        #expect(page.contains("<svg ") && page.contains("class=\"try good\""))
        // Nothing else is left.
        #expect(try bench.folder.names(in: ".").filter { $0.contains(".ogg") }.isEmpty)
        let again = try await bench.run("show", "--html", "-o", path)
        #expect(again.status == .exited(74))
        #expect(again.errorText.contains("exists already\n"))
    }

    /// The text is the one that counts now, whatever has become of it.
    @Test func timesStayWithTheirWords() {
        typealias Piece = TakeStory.Piece
        func parts(_ text: String, _ pieces: [Piece]) -> [String] {
            TimedText(text, pieces).parts.map { part in
                part.text + (part.start.map { "@\($0)" } ?? "")
            }
        }
        let said = [Piece("go", from: 0.5), Piece(" forward", from: 1), Piece("ten", from: 2)]
        #expect(
            parts("Go forward, ten!", said)
                == ["Go@0.5", " ", "forward@1.0", ", ", "ten@2.0", "!"])
        // A word that was changed has no time, and the end of another is not it.
        #expect(parts("go back ten", said) == ["go@0.5", " back ", "ten@2.0"])
        #expect(parts("outgo ten", said) == ["outgo ", "ten@2.0"])
        #expect(
            parts("你好", [Piece("你", from: 0), Piece("好", from: 1)]) == ["你@0.0", "好@1.0"])
        #expect(
            parts("hello", [Piece("hel", from: 0), Piece("lo", from: 1)]) == ["hel@0.0", "lo@1.0"])
        #expect(parts("a b", [Piece("hel", from: 0), Piece("", from: 1)]) == ["a b"])
        #expect(parts("", said).isEmpty && parts("x", []) == ["x"])
    }

    @Test(arguments: [
        (["--html"], "A page needs --html and the file"),
        (["-o", "page.html"], "A page needs --html and the file"),
        (["--html", "-o", "page.html", "--json"], "--json and --html cannot be used together"),
    ])
    func aPageNeedsItsFile(_ words: [String], _ reason: String) {
        let error = #expect(throws: (any Error).self) { try ShowCommand.parse(words) }
        let message = error.map { ShowCommand.message(for: $0) }
        #expect(message?.contains(reason) == true)
    }

    @Test func aPictureFitsItsTerminal() async throws {
        let words = #"[{"word": "go", "start": 0.0}, {"word": "on", "start": 1.0}]"#
        let bench = try await self.bench(hearing: #"{"text": "go on", "words": \#(words)}"#)
        for columns in [40, 80] as [UInt16] {
            let result = try await bench.start(
                ["show", "last"], terminal: try PseudoTerminal(columns: columns),
                outputOnTerminal: true
            ).result()
            let lines = Screen(result.screenText, columns: Int(columns)).lines
                .filter { !$0.isEmpty }
            let wave = try #require(lines.firstIndex { $0.contains("▁") })
            #expect(wave == lines.count - 2, "\(lines)")
            #expect(lines.last?.hasPrefix("go ") == true && lines.last?.hasSuffix("on") == true)
        }
    }
}

extension String {
    /// The texts between two marks.
    fileprivate func components(_ first: String, _ last: String) -> [String] {
        ranges(of: first).compactMap { range in
            let rest = self[range.upperBound...]
            return rest.firstRange(of: last).map { String(rest[..<$0.lowerBound]) }
        }
    }
}
