// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import TextRules

private struct Case: CustomTestStringConvertible, Sendable {
    let said, written: String
    var language: String? = "en"

    var testDescription: String { said }

    init(_ said: String, _ written: String, _ language: String? = "en") {
        (self.said, self.written, self.language) = (said, written, language)
    }
}

struct FillerTests {
    private static let rules: TextRules = {
        var rules = TextRules()
        rules.dropsFillers = true
        return rules
    }()

    @Test(arguments: [
        Case("I um think so", "I think so"),
        Case("I, um, think so.", "I, think so."),
        Case("apples, um, pears and bread", "apples, pears and bread"),
        Case("I think um; well", "I think; well"), Case("I said: um.", "I said."),
        Case("So um, we go", "So we go"),
        Case("Um, we go.", "We go."),
        Case("We go. Um, then we stop.", "We go. Then we stop."),
        Case("We go, um.", "We go."),
        Case("It was, you know, huge.", "It was, huge."),
        Case("the the dog and and a cat", "the dog and a cat"),
        Case("The the dog", "The dog"),
        Case("um uh the uh the dog", "the dog"), Case("Then um eBay", "Then eBay"),
        Case("Um, eBay", "eBay"),
        Case("Ich äh gehe oder oder singe.", "Ich gehe oder singe.", "de-DE"),
        Case("Euh, je je viens.", "Je viens.", "french"),
        Case("El el perro, eh, duerme", "El perro, duerme", "es"),
    ])
    fileprivate func aSoundThatIsNoWordIsLeftOut(_ example: Case) {
        let ruled = Self.rules.applied(to: RuledText(example.said), in: example.language)
        #expect(ruled.text == example.written)
        #expect(!ruled.changes.isEmpty)
    }

    /// Each means what it says.
    @Test(arguments: [
        Case(kept: "I like it, like you", "en"), Case(kept: "He took her to the ER", "en"),
        Case(kept: "a board of 12 um", "en"),
        Case(kept: "What it is is that that had had to go", "en"),
        Case(kept: "vitamin A a day", "en"), Case(kept: "1 1 2 2 9 9", "en"),
        Case(kept: "no no", "en"),
        Case(kept: "The the", nil), Case(kept: "um", nil), Case(kept: "um", "cs"),
        Case(kept: "Er kam um acht um die Ecke", "de"),
        Case(kept: "die Frau, die die Katze sucht", "de"),
        Case(kept: "die eine eine Frage", "de"),
        Case(kept: "nous nous levons, vous vous levez", "fr"),
        Case(kept: "He said \"um\" twice.", "en"), Case(kept: "“Um,” he said.", "en"),
        Case(kept: "Like, share, like, and comment", "en"), Case(kept: "The band The The", "en"),
        Case(kept: "So do I I guess, A A A batteries", "en"),
        Case(kept: "Das Wort „äh“ ist, um es zu sagen, also, eins", "de"),
        Case(kept: "Bier und und und", "de"), Case(kept: "la mort de de Gaulle", "fr"),
        Case(kept: "Paul, Ben, Marie, nom, genre, un un deux", "fr"),
        Case(kept: "Norte, este, sur", "es"), Case(kept: "¿Em? ¿Qué?", "es"),
        Case(kept: "este libro, pues no", "es"), Case(kept: "cada una una flor", "es"),
    ])
    fileprivate func aWordThatIsMeantStays(_ example: Case) {
        let ruled = Self.rules.applied(to: RuledText(example.said), in: example.language)
        #expect(ruled.text == example.said)
        #expect(ruled.changes.isEmpty)
    }

    @Test func eachTableIsRead() {
        #expect(LanguageTable.languages == ["de", "en", "es", "fr"])
    }
}

extension Case {
    fileprivate init(kept said: String, _ language: String?) { self.init(said, said, language) }
}

struct SpokenMarkTests {
    @Test(arguments: [
        Case("hello comma world period how are you question mark", "hello, world. How are you?"),
        Case("Hello, comma, world. Period. New line. next", "Hello, world.\nNext"),
        Case("one new paragraph two", "one\n\nTwo"),
        Case("he said open quote go close quote", "he said “go”"),
        Case("open parenthesis a close parenthesis b", "(a) b"),
        Case("comma", "comma"),
        Case("Hallo Komma Welt Punkt neue Zeile ende", "Hallo, Welt.\nEnde", "de"),
        Case("Bonjour virgule ça va point d’interrogation", "Bonjour, ça va\u{202F}?", "fr"),
        Case("hola coma abrir interrogación vienes cerrar interrogación", "hola, ¿vienes?", "es"),
        Case("a period of time", "a. Of time"),
        Case("what question mark exclamation mark", "what?!"),
        Case("say \"hello comma\" now", "say \"hello comma\" now"),
        Case("3 Komma 5 Prozent", "3 Komma 5 Prozent", "de"),
        Case("punto y coma", "punto y coma", "es"),
        Case("go new line eBay", "go\neBay"),
        Case("hello comma", "hello comma", nil),
    ])
    fileprivate func theNameOfAMarkBecomesTheMark(_ example: Case) {
        var rules = TextRules()
        rules.writesMarks = true
        let ruled = rules.applied(to: RuledText(example.said), in: example.language)
        #expect(ruled.text == example.written)
    }

    @Test(arguments: [
        Case("Meet at five. Scratch that. Meet at six.", "Meet at six."),
        Case("Meet at five, scratch that, six", "Six"),
        Case("Yes. Meet at five, scratch that. At six", "Yes. At six"),
        Case("one. two. scratch that. scratch that. three", "three"),
        Case("At 5 p.m. today. Scratch that. At 6.", "At 6."),
        Case("go, scratch that", ""), Case("scratch that", ""),
        Case("we scratch the surface", "we scratch the surface"),
        Case("I built it from scratch that day.", "I built it from scratch that day."),
        Case("You should scratch that.", "You should scratch that."),
        Case("Workers went on strike that week.", "Workers went on strike that week."),
        Case("Komm um fünf. Streich das. Komm um sechs.", "Komm um sechs.", "de"),
    ])
    fileprivate func whatIsTakenBackIsTheSentenceBefore(_ example: Case) {
        var rules = TextRules()
        rules.takesBack = true
        let ruled = rules.applied(to: RuledText(example.said), in: example.language)
        #expect(ruled.text == example.written)
    }

    @Test func theLineOfWhatIsTakenBackStays() {
        var rules = TextRules()
        (rules.takesBack, rules.writesMarks) = (true, true)
        let said = "Hello. New line bad words. Scratch that. Good."
        #expect(rules.applied(to: RuledText(said), in: "en").text == "Hello.\nGood.")
    }
}

struct WordListTests {
    private static let list = """
        "cube control" = "kubectl"
        cube = "Kube"
        kuberneties = "Kubernetes"
        "basically" = ""
        "京都市" = "京都"
        "京都" = "みやこ"
        "みやこ" = "都"
        "タワー" = ""
        "東京" = "江戸"
        "o'brien" = "O’Brien"
        [de]
        "kuber netes" = "Kubernetes"
        cube = "Würfel"
        [ja]
        "東京" = "東京都"
        """

    @Test(arguments: [
        Case("run cube control get pods", "run kubectl get pods"),
        Case("Cube Control, please. A cube!", "kubectl, please. A Kube!"),
        Case("cube, control", "Kube, control"), Case("cubes control", "cubes control"),
        Case("Basically, it works", "It works"), Case("it works, basically.", "it works."),
        Case("京都市に行く", "京都に行く", "ja"),
        Case("京都に タワー 行く", "みやこに 行く", "ja"), Case("東京へ", "東京都へ", "ja"),
        Case("東京へ", "江戸へ"), Case("Ask O’BRIEN’s", "Ask O’BRIEN’s"),
        Case("Ask o’brien", "Ask O’Brien"),
        Case("Kuber Netes und cube", "Kubernetes und Würfel", "de-AT"),
        Case("Kuberneties", "Kubernetes", "de"), Case("kuber netes", "kuber netes"),
    ])
    fileprivate func aWordOfTheListIsWrittenAsItSays(_ example: Case) throws {
        var rules = TextRules()
        rules.words = try WordList(Self.list)
        let ruled = rules.applied(to: RuledText(example.said), in: example.language)
        #expect(ruled.text == example.written)
        #expect(ruled.changes.allSatisfy { $0.rule == .words })
    }

    @Test(arguments: [
        Case("Nuts, e.g. this, E.G., e.g.", "Nuts, for example this, for example, for example."),
        Case("run $(id) now", "run X now"), Case("a (tm) ((tm)). tm", "a TM (TM). TM"),
        Case("I use Yahoo! daily", "I use daily"), Case("a kube. The end", "a Kubernetes. The end"),
    ])
    fileprivate func marksThatAWordOfTheListHasGoWithIt(_ example: Case) throws {
        var rules = TextRules()
        let list = [
            ("e.g.", "for example"), ("$(id)", "X"), ("(tm)", "TM"), ("Yahoo!", ""),
            ("kube.", "Kubernetes"),
        ]
        rules.words = WordList(list.map { WordList.Entry($0, $1) })
        #expect(rules.applied(to: RuledText(example.said), in: nil).text == example.written)
    }

    @Test func theWordsThatAreMeantAreAVocabulary() throws {
        let list = try WordList(Self.list)
        #expect(
            list.vocabulary(in: nil) == [
                "kubectl", "Kube", "Kubernetes", "京都", "みやこ", "都", "江戸", "O’Brien",
            ])
        #expect(list.vocabulary(in: "de").last == "Würfel")
        #expect(list.vocabulary(in: "fr,de").last == "Würfel")
    }

    /// A service that takes few words is told those that a person says.
    @Test func theWordsThatAreUsedMostComeFirst() {
        let words = ["cube", "Kube Control", "京都", "queue", "Rust"]
        let texts = [
            "Kube control, kube control.", "a queue and 京都に行く", "Queue! Rusty, cube, kube.",
        ]
        #expect(
            WordList.mostUsedFirst(words, in: texts) == [
                "Kube Control", "queue", "cube", "京都", "Rust",
            ])
        #expect(WordList.mostUsedFirst(words, in: []) == words)
    }

    /// A service takes so many words, or so many characters of them.
    @Test func ofALongListGoTheWordsThatAreUsedMost() {
        let list = WordList(
            ["one", "two", "three", "four", "five, six"].map { WordList.Entry($0, $0) })
        var limits = VocabularyLimits(characters: 600, most: 4)
        var hasAsked = false
        func words() -> [String] {
            list.vocabulary(in: nil, within: limits) {
                hasAsked = true
                return ["four or three", "four"]
            }
        }
        #expect(words() == ["one", "two", "three", "four"])
        #expect(!hasAsked)
        limits = VocabularyLimits(characters: 600, most: 2)
        #expect(words() == ["four", "three"])
        limits = VocabularyLimits(characters: 12)
        #expect(words() == ["four", "one"])
        limits = VocabularyLimits(characters: 600, longest: 3)
        hasAsked = false
        #expect(words() == ["one", "two"])
        #expect(!hasAsked)
    }

    @Test(arguments: [
        "\"...\" = \"x\"", "\"\" = \"x\"", "a = 1", "a = \"b\\u0007\"", "[en]\na = {}",
        "[deutsch]\na = \"b\"", "[\"\"]\na = \"b\"",
    ])
    func aListWithAMistakeNamesItsPlace(_ text: String) {
        #expect(throws: (any Error).self) { try WordList(text) }
    }
}

struct AllRulesTests {
    /// Words of every rule, in every order: no rule fails, and the time grows with the length alone.
    @Test func noTextIsTooOddOrTooLong() throws {
        var rules = TextRules()
        (rules.dropsFillers, rules.writesMarks, rules.takesBack) = (true, true, true)
        rules.words = WordList([.init("a b", "ab"), .init("b", ""), .init("東", "西")])
        let pieces = [
            "um", "Um,", "the", "the.", "comma", "open", "quote", "close", "new", "line", "scratch",
            "that", "a", "b", "“b”", "…", "東京", "👩‍👩‍👧", "\u{301}", "you", "know,", "\t", "\n",
        ]
        var random = SeededRandom()
        let languages = ["en", "de", "fr", "es"]
        for turn in 0..<10_000 {
            let count = Int.random(in: 0...12, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }
                .joined(separator: " ")
            let ruled = rules.applied(to: RuledText(text), in: languages[turn % 4])
            let isBounded =
                ruled.changes.count <= TextChange.limit
                && ruled.words.allSatisfy { $0.span.upperBound <= count }
            #expect(isBounded, "seed \(random.seed), \(text)")
        }
        // Places are bounded: a word that is said again and again there is not looked at again and again.
        for piece in [
            "um the the a b you know, scratch that new line ", "close quote ", "open quote ",
            "new line ", "hello. x, scratch that. ", "comma period ",
        ] {
            let long = "a " + String(repeating: piece, count: 20_000)
            #expect(rules.applied(to: RuledText(long), in: "en").text != long, "\(piece)")
        }
    }
}

struct CorrectionTests {
    @Test(arguments: [
        ("ask kuber netties at noon", "ask Kubernetes at noon", ["kuber netties → Kubernetes"]),
        ("The Kubectel runs", "The kubectl runs.", ["kubectel → kubectl"]),
        ("On github we are", "on GitHub we are", ["github → GitHub"]),
        ("in 2024 too", "in 2025 too", []),
        ("he said no", "he said no, never", []), ("go there", "stay there", []),
        ("a b c d", "w x y z", []), ("same words", "Same, words!", []), ("", "kubectl", []),
        ("teh cat and teh dog", "the cat and the dog", ["teh → the", "teh → the"]),
    ])
    func wordsThatSoundAlikeAreCorrections(_ before: String, _ after: String, _ found: [String]) {
        let corrections = Correction.all(from: before, to: after)
        #expect(corrections.map { "\($0.said) → \($0.written)" } == found)
    }

    @Test func theStopWordCountsAtTheEndAlone() {
        var rules = TextRules()
        rules.stopWord = "stop listening"
        let ruled = { (text: String) in rules.applied(to: RuledText(text), in: nil).text }
        #expect(ruled("Good night, stop listening.") == "Good night")
        #expect(ruled("Stop listening!") == "")
        #expect(ruled("I stop listening when I sleep") == "I stop listening when I sleep")
    }
}

struct RealSentenceTests {
    @Test(arguments: LanguageTable.languages)
    func noWordThatIsMeantIsChanged(_ language: String) throws {
        let path = SourceTree.path("Tests/TextRulesTests/Sentences/\(language).txt")
        let sentences = String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n")
        try #require(sentences.count == 500)
        var rules = TextRules()
        rules.dropsFillers = true
        for sentence in sentences {
            let ruled = rules.applied(to: RuledText(String(sentence)), in: language)
            #expect(ruled.changes.isEmpty, "\(sentence): \(ruled.changes)")
        }
    }
}
