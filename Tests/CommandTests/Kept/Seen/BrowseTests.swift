// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import UtterCommands
@testable import UtterTerminal

/// A list of takes to walk through: what its keys mean, and what is seen of it.
@Suite struct BrowseTests {
    private static let words = ["go forward", "Cube control", "the \u{1B}[31mcards\nare three", ""]

    private var state: BrowseState {
        var state = BrowseState()
        state.take(
            Self.words.enumerated().map { number, words in
                BrowseState.Row(
                    id: "take\(number)", columns: "14:0\(number), answered, 0:03.2",
                    words: words.isEmpty ? "refused: 413" : words, hasText: !words.isEmpty,
                    hasSound: number != 2)
            })
        return state
    }

    private func steps(_ keys: KeyReader.Key...) -> (BrowseState, [BrowseState.Step]) {
        var state = state
        let steps = keys.map { state.handle($0, page: 3) }
        return (state, steps)
    }

    @Test func keysMoveWithinTheList() {
        let (state, _) = steps(.up, .down, .character("j"), .character("k"))
        #expect(state.selected?.id == "take1")
        #expect(steps(.last, .down).0.selected?.id == "take3")
        #expect(steps(.pageDown, .pageUp).0.selected?.id == "take0")
        #expect(steps(.last, .first).0.selected?.id == "take0")
    }

    @Test func eachKeyActsOnTheTakeThatIsSelected() {
        let acts = "pcredus".map { KeyReader.Key.character($0) }
        var state = state
        let steps = acts.map { state.handle($0, page: 3) }
        #expect(
            steps == [
                .act(.play, id: "take0"), .act(.copy, id: "take0"), .act(.retry, id: "take0"),
                .act(.edit, id: "take0"), .act(.remove, id: "take0"), .act(.undo, id: ""),
                .act(.show, id: "take0"),
            ])
        #expect(state.handle(.enter, page: 3) == .act(.play, id: "take0"))
        #expect(state.handle(.character("x"), page: 3) == .nothing)
        for key in [.character("q"), .escape, .end] as [KeyReader.Key] {
            #expect(state.handle(key, page: 3) == .quit)
        }
    }

    @Test func whatCannotBeDoneIsSaid() {
        let (state, silent) = steps(.down, .down, .enter)
        #expect(silent.last == .changed)
        #expect(state.sentence == "the sound of take2 is not on the disk any more")
        let (other, wordless) = steps(.last, .character("c"))
        #expect(wordless.last == .changed && other.sentence == "take3 has no text")
        var empty = BrowseState()
        #expect(empty.sentence == "there is no recording")
        #expect(empty.handle(.character("d"), page: 3) == .changed)
        #expect(empty.message == "nothing is selected")
        #expect(empty.lines(columns: 40, rows: 5).count == 5)
    }

    @Test func aSearchFindsWordsInAnyCase() {
        let (state, _) = steps(
            .character("/"), .character("c"), .character("U"), .character("x"), .backspace, .enter)
        #expect(state.found.map(\.id) == ["take1"] && !state.isSearching)
        #expect(
            state.sentence
                == "1 of 1 with 'cU': 14:01, answered, 0:03.2: Cube control")
        var left = state
        #expect(left.handle(.escape, page: 3) == .changed && left.found.count == 4)
        #expect(steps(.character("/"), .character("q")).1.last == .changed)
    }

    @Test func theSameTakeStaysSelected() {
        var (state, _) = steps(.down, .down)
        state.take(Array(state.rows.dropFirst()))
        #expect(state.selected?.id == "take2")
        state.take([])
        #expect(state.selected == nil)
        var (end, _) = steps(.last)
        end.take(Array(end.rows.dropLast()))
        #expect(end.selected?.id == "take2")
        // A search finds two, and the second is selected.
        var (found, _) = steps(.character("/"), .character("c"), .enter, .last)
        found.take(found.rows)
        #expect(found.selected?.id == "take2")
        found.take(found.rows.filter { $0.id != "take2" })
        #expect(found.selected?.id == "take1")
    }

    /// Each key is named as long as all names have room.
    @Test func theKeysFitTheirLine() {
        let feet = [200, 80, 70, 40].map { state.lines(columns: $0, rows: 5).last?.text }
        #expect(
            feet == [
                "p play  c copy  r retry  e edit  d remove  u undo  s show  / search  q quit",
                "p play  c copy  r retry  e edit  d remove  u undo  s show  / search  q quit",
                "p play c copy r retry e edit d remove u undo s show / search q quit",
                "keys: p c r e d u s / q",
            ])
    }

    /// Nothing of a text reaches the terminal but its letters.
    @Test(arguments: [40, 41, 57, 80, 200]) func eachLineFits(_ columns: Int) {
        for rows in [4, 7, 24] {
            let lines = steps(.down).0.lines(columns: columns, rows: rows)
            #expect(lines.count == rows && lines.count { $0.isSelected } == 1)
            for (text, _) in lines {
                #expect(TextWidth.columns(of: text) <= columns)
                #expect(!text.contains("\u{1B}") && !text.contains("\n"))
            }
        }
    }

    @Test func aPersonWalksThroughThemInATerminal() async throws {
        let bench = try Bench(server: .hearing("go forward"))
        _ = try await bench.run("send", "-q", try bench.fresh(.goForward))
        let terminal = try PseudoTerminal()
        let run = try bench.start(
            ["browse", "--plain"], input: .terminal, terminal: terminal, outputOnTerminal: true)
        #expect(await run.wait(for: "1 of 1: ", in: .screen))
        try terminal.type("d")
        #expect(await run.wait(for: "done", in: .screen))
        try terminal.type("u")
        #expect(await run.wait(for: "rm --undo: done", in: .screen))
        try terminal.type("q")
        #expect(try await run.result().status == .exited(0))
        let piped = try await bench.run("browse")
        #expect(piped.status == .exited(64))
    }
}
