// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The moving pictures of the programs, which `make pictures` records.
@Suite struct PictureTests {
    /// What is read at the end of each.
    private static let pictures = [
        "speak": ["$ utter", Clip.cards.transcript], "broken-link": [Clip.cards.transcript],
        "retry": ["$ utter retry last", "answered  0:02.7  \(Clip.goForward.transcript)"],
    ]

    @Test(arguments: pictures)
    func theyEndWithWhatWasSaid(_ name: String, _ ending: [String]) throws {
        let picture = try Self.picture(name)
        // The strip is moved by the place of its last frame.
        let last = try #require(picture.firstMatch(of: /translate\(0,-(\d+)\)/)?.1)
        let start = try #require(Int(last))
        let shapes = picture.matches(of: /<g id="(\w+)">(.*?)<\/g>/)
        let lines = Dictionary(uniqueKeysWithValues: shapes.map { ($0.1, Self.text(of: $0.2)) })
        let seen = picture.matches(of: /<use href="#(\w+)" x="\d+" y="(\d+)"/)
            .filter { Int($0.2).map { $0 >= start } ?? false }.map { lines[$0.1] ?? "" }
        for text in ending { #expect(seen.contains { $0.contains(text) }, "\(text): \(seen)") }
    }

    @Test(arguments: pictures.keys)
    func theyNeedNothingFromOutside(_ name: String) throws {
        let picture = try Self.picture(name)
        #expect(picture.utf8.count < 150_000)
        #expect(picture.contains("@media(prefers-color-scheme:dark)"))
        let text = picture.replacing("http://www.w3.org/2000/svg", with: "")
        for word in ["href=\"h", "url(", "@import", "<image", "<script", "<foreign", "font-face"] {
            #expect(!text.contains(word), "\(word)")
        }
        #expect(
            try String(decoding: readFile(SourceTree.path("README.md")), as: UTF8.self)
                .contains("(docs/pictures/\(name).svg)"))
    }

    @Test(arguments: pictures.keys)
    func aRendererTakesThem(_ name: String) throws {
        let image = try ForeignTool("rsvg-convert").run(
            ["--width", "400", SourceTree.path("docs/pictures/\(name).svg")])
        #expect(image.output.starts(with: [0x89] + Array("PNG".utf8)))
        #expect(image.complaint.isEmpty)
    }

    private static func picture(_ name: String) throws -> String {
        String(decoding: try readFile(SourceTree.path("docs/pictures/\(name).svg")), as: UTF8.self)
    }

    /// The pieces of a line, which stand at places of their own.
    private static func text(of shape: Substring) -> String {
        shape.matches(of: /x="(\d+)".*?>(.*?)<\/text>/).reduce(into: "") { line, piece in
            let column = (Int(piece.1) ?? 0) / 9
            line += String(repeating: " ", count: max(0, column - line.count)) + piece.2
        }
    }
}
