// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import RecognitionEndpoint

@Suite struct JSGFGrammarTests {
    private func parse(_ text: String) throws(JSGFError) -> JSGFGrammar {
        try JSGFGrammar(parsing: Array(text.utf8))
    }

    @Test func aGrammarBecomesItsRulesWithoutComments() throws {
        let grammar = try parse(
            """
            \u{FEFF}#JSGF V1.0 UTF-8 en;
            /* two
               lines */
            grammar demo; // name
            public <a> = /2/ go {tag} | /0.5/ (stop [now])* <b>+ | "here";
            <b> = <NULL> | don't;
            """)
        #expect(
            grammar.canonicalText
                == """
                #JSGF V1.0;
                grammar utter;
                public <a> = /2/ go | /0.5/ ( stop [ now ] ) * <b> + | here;
                <b> = <NULL> | don't;

                """)
    }

    @Test func theDemoGrammarIsUnderstood() throws {
        let grammar = try JSGFGrammar(parsing: readFile(Samples.grammar))
        #expect(grammar.canonicalText.contains(" meters"))
    }

    @Test(arguments: [
        ("", 1, "a grammar begins with '#JSGF V1.0;'"),
        ("#JSGF V1.0", 1, "no ';' follows 'V1.0'"),
        ("#JSGF V1.0;\npublic <a> = b;", 2, "'grammar NAME;' is missing after the first line"),
        ("#JSGF V1.0; grammar;", 1, "'grammar NAME;' is missing after the first line"),
        (
            "#JSGF V1.0; grammar g;\nimport <x.*>;", 2,
            "a rule such as '<name> = …;' is expected"
        ),
        ("#JSGF V1.0; grammar g;\n;", 2, "nothing stands before ';'"),
        ("#JSGF V1.0; grammar g;\n<a> = b;", 1, "no rule is public"),
        ("#JSGF V1.0; grammar g;\npublic <a> = ;", 2, "a word or a rule is missing behind '='"),
        ("#JSGF V1.0; grammar g;\npublic <a> = b | ;", 2, "a word or a rule is missing behind '|'"),
        ("#JSGF V1.0; grammar g;\npublic <a> = b\n| c", 3, "no ';' follows 'c'"),
        ("#JSGF V1.0; grammar g;\npublic <a> = (b;", 2, "')' is missing behind 'b'"),
        ("#JSGF V1.0; grammar g;\npublic <a> = (b];", 2, "']' cannot stand behind 'b'"),
        ("#JSGF V1.0; grammar g;\npublic <a> = b c = d;", 2, "'=' cannot stand behind 'c'"),
        ("#JSGF V1.0; grammar g;\npublic <a> = <b>;", 2, "the rule '<b>' is not defined"),
        ("#JSGF V1.0; grammar g;\npublic <a> = b;\n<a> = c;", 3, "the rule '<a>' is defined twice"),
        ("#JSGF V1.0; grammar g;\npublic <a> = b; echo me", 2, "no ';' follows 'me'"),
        (
            "#JSGF V1.0; grammar g;\npublic <a> = b; echo me;", 2,
            "a rule such as '<name> = …;' is expected"
        ),
        ("#JSGF V1.0;\ngrammar g;\n;", 3, "nothing stands before ';'"),
        ("#JSGF V1.0; grammar g;\npublic <a = b;", 2, "'<' has no meaning here"),
        ("#JSGF V1.0; grammar g;\npublic <a b> = c;", 2, "'<' has no meaning here"),
        ("#JSGF V1.0; grammar g;\npublic <a> = \"b c\";", 2, "'\"' has no meaning here"),
        ("#JSGF V1.0; grammar g;\npublic <a> = \"b;c\";", 2, "'\"' has no meaning here"),
        ("#JSGF V1.0; grammar g;\npublic <a> = /x/ b;", 2, "'/' has no meaning here"),
        ("#JSGF V1.0; grammar g;\npublic <a> = b };", 2, "'}' has no meaning here"),
        ("#JSGF V1.0; grammar g;\n/* open", 2, "'/' has no meaning here"),
        ("#JSGF V1.0; grammar g;\npublic <a> = \u{1};", 2, "'\u{1}' has no meaning here"),
    ])
    func whereATextStopsBeingAGrammar(text: String, line: Int, reason: String) {
        #expect(throws: JSGFError(line: line, reason: reason)) { try parse(text) }
    }

    @Test func textThatIsNotUTF8IsRefused() {
        #expect(throws: JSGFError(line: 1, reason: "the text is not UTF-8")) {
            try JSGFGrammar(parsing: [0xFF, 0xFE, 0])
        }
    }

    @Test func deepNestingIsRefusedBeforeItExhaustsTheStack() {
        let text = "#JSGF V1.0; grammar g; public <a> = " + String(repeating: "(", count: 100_000)
        #expect(throws: JSGFError(line: 1, reason: "no ';' follows '('")) { try parse(text) }
        #expect(throws: JSGFError(line: 1, reason: "groups are nested too deeply")) {
            try parse(text + "b" + String(repeating: ")", count: 100_000) + ";")
        }
    }

    @Test func damagedGrammarsNeverTrap() throws {
        var random = SeededRandom()
        let text = try readFile(Samples.grammar)
        for _ in 0..<300 {
            var damaged = text
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let marks = Array("<>(){}[]/*|;=\"\n# a".utf8)
                let index = Int.random(in: damaged.indices, using: &random)
                damaged[index] = marks.randomElement(using: &random) ?? 0
            }
            do {
                let grammar = try JSGFGrammar(parsing: damaged)
                let again = try parse(grammar.canonicalText)
                #expect(again.canonicalText == grammar.canonicalText, "seed \(random.seed)")
            } catch {
                #expect(error.line > 0 && !error.reason.isEmpty, "seed \(random.seed)")
            }
        }
    }
}
