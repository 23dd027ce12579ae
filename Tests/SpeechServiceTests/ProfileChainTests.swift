// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import Settings
@testable import SpeechService

@Suite struct ProfileChainTests {
    private func shelf(
        _ texts: [String: String], in folder: String
    ) -> ProfileChain.Shelf {
        { name in
            texts[name].map {
                ProfileText(name: name, place: "\(folder)/\(name).toml", text: $0)
            }
        }
    }

    private func places(
        of name: String, _ shelves: [ProfileChain.Shelf]
    ) throws -> [String]? {
        try ProfileChain.texts(of: name, in: shelves)?.map(\.place)
    }

    @Test func aProfileIsLookedForOnTheFirstShelfFirst() throws {
        let own = shelf(["a": "extends = 'b'", "c": "extends = 'c'"], in: "own")
        let shipped = shelf(["a": "", "b": "extends = 'c'", "c": ""], in: "shipped")
        #expect(
            try places(of: "b", [own, shipped])
                == ["shipped/b.toml", "own/c.toml", "shipped/c.toml"])
        #expect(
            try places(of: "a", [own, shipped])
                == ["own/a.toml", "shipped/b.toml", "own/c.toml", "shipped/c.toml"])
        #expect(try places(of: "d", [own, shipped]) == nil)
    }

    @Test(arguments: [
        ("a", "extends = 'b'", "f/b.toml:1:11: 'a' extends 'a' itself"),
        ("c", "extends = 'c'", "f/c.toml:1:11: there is no profile 'c' to extend"),
        ("d", "\nextends = 'nothing'", "f/d.toml:2:11: there is no profile 'nothing' to extend"),
        ("e", "extends = 1", "f/e.toml:1:11: 'extends' must be a string, not a whole number"),
        ("f", "extends", "f/f.toml:1:8: "),
    ])
    func whatCannotBeExtendedIsSaidAtItsPlace(name: String, text: String, message: String) {
        let one = shelf([name: text, "b": "extends = 'a'"], in: "f")
        let error = #expect(throws: SettingsError.self) { try places(of: name, [one]) }
        #expect(error?.text(of: "-").hasPrefix(message) == true, "\(error?.text(of: "-") ?? "")")
    }

    @Test func noMoreThanEightProfilesExtendEachOther() throws {
        let texts = Dictionary(
            uniqueKeysWithValues: (0..<9).map { ("p\($0)", $0 < 8 ? "extends = 'p\($0 + 1)'" : "") }
        )
        let one = shelf(texts, in: "f")
        #expect(try places(of: "p1", [one])?.count == 8)
        let error = #expect(throws: SettingsError.self) { try places(of: "p0", [one]) }
        #expect(error?.text(of: "-") == "f/p7.toml:1:11: more than 8 profiles extend each other")
    }
}

@Suite struct ShippedProfilesTests {
    @Test func eachFileOfTheFolderIsBuiltIn() throws {
        let folder = SourceTree.path("Sources/SpeechService/Profiles")
        for name in ShippedProfiles.names {
            let file = try readFile("\(folder)/\(name).toml")
            #expect(ShippedProfiles.text(of: name)?.text == String(decoding: file, as: UTF8.self))
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".toml") }
        #expect(files.sorted() == ShippedProfiles.names.map { $0 + ".toml" }.sorted())
    }

    @Test(arguments: ShippedProfiles.names)
    func eachIsValidAndSaysWhatIsKnownOfIt(name: String) throws {
        let profile = try Profiles.shipped.profile(name)
        #expect(!profile.title.isEmpty)
        #expect(profile.docs != nil)
        #expect(
            profile.verified?.hasPrefix("from documentation, unverified (") == true
                || profile.verified?.hasPrefix("2026-") == true)
        // With something in place of each word that it needs, a request can be made.
        var words: [String: String] = [:]
        for word in profile.words where word.isRequired {
            words[word.name] = word.name == "instance" ? "https://a.example" : "w"
        }
        for format in profile.formats {
            _ = try profile.service(words: words, format: format)
        }
        #expect(!profile.formats.isEmpty)
    }

    /// With a country where the service has none, and with other marks than the service's.
    @Test(
        arguments: [
            ("openai", "en-US", "en"), ("groq", "en_GB", "en"), ("whisper-cpp", "de-AT", "de"),
            ("elevenlabs", "pt-BR", "pt"), ("mistral", "fr-CA", "fr"), ("speaches", "en-US", "en"),
            ("speechmatics", "en-US", "en"), ("revai", "es-MX", "es"), ("ovos", "de-DE", "de-de"),
            ("nvidia-nim", "en_US", "en-US"), ("azure", "en_gb", "en-GB"),
            ("yandex", "tr_TR", "tr-TR"), ("assemblyai-batch", "en-GB", "en_uk"),
            ("assemblyai-batch", "es-ES", "es"), ("baidu", "en-US", "1737"),
            ("baidu", "1637", "1637"),
        ])
    func shippedProfilesKnowTheFormOfLanguages(
        _ name: String, _ said: String, _ sent: String
    ) throws {
        let profile = try Profiles.shipped.profile(name)
        let word = try #require(profile.words.first { $0.name == "language" })
        #expect(try word.value(for: said, of: name) == sent)
    }

    /// These were written from their documentation when nothing here knew the services.
    @Test(arguments: ["soniox", "azure-fast", "cloudflare", "hugging-face", "volcengine"])
    func aServiceThatWasNotKnownIsShort(name: String) throws {
        let text = try #require(ShippedProfiles.text(of: name)?.text)
        // Its other way is short, too.
        for way in text.split(separator: "\n[live]") {
            #expect(way.split(separator: "\n").count < 20)
        }
    }

    @Test func aCompatibleServiceIsShort() throws {
        for name in ["groq", "mistral", "speaches", "localai", "vllm", "faster-whisper-server"] {
            let text = try #require(ShippedProfiles.text(of: name)?.text)
            #expect(text.split(separator: "\n").count < 15)
        }
    }
}

/// Fields of profiles, as they are said one by one over a profile.
@Suite struct ProfileKeyTests {
    private func profile(
        _ lines: [String], over base: String = "url = 'https://speech.example/'"
    ) throws -> ServiceProfile {
        try ServiceProfile(
            texts: lines.reversed().map { ProfileText(overriding: $0, place: $0) }
                + [ProfileText(name: "base", text: base)])
    }

    private func line(_ path: String, _ value: String) throws -> String {
        try #require(ProfileKey.named(path)).line(for: path, value: value)
    }

    /// A value that a field of some form takes.
    private func value(of key: ProfileKey) -> String {
        switch key.form {
        case .text, .path, .table, .list: "x"
        case .words(let words): words[words.count - 1]
        case .number, .seconds: "5"
        case .flag: "true"
        }
    }

    /// The profile below has what only some kinds of services ask for.
    @Test func everyFieldIsOneThatTheReaderOfProfilesAsksFor() throws {
        for key in ProfileKey.all {
            let path = key.path.replacing("NAME", with: "x-own")
            let kinds = ["scheme": "scheme", "header": "header", "form": "header"]
                .merging(["parameter": "query", "region": "aws-sigv4", "service": "aws-sigv4"]) {
                    $1
                }
            let last = path.split(separator: ".").last.map(String.init) ?? ""
            var base = "url = 'https://a/'\n"
            if path.hasPrefix("auth."), let kind = kinds[last] { base += "auth.kind = '\(kind)'\n" }
            if path.hasPrefix("exchange.") { base += "exchange.kind = 'job'\n" }
            do {
                _ = try profile([line(path, value(of: key))], over: base)
            } catch let error as SettingsError {
                #expect(!error.reason.contains("is not known"), "\(path): \(error.reason)")
            }
        }
    }

    @Test func theDocumentsExplainEachField() throws {
        let text = String(
            decoding: try readFile(SourceTree.path("docs/profiles.md")), as: UTF8.self)
        for key in ProfileKey.all {
            let last = key.path.split(separator: ".").last.map(String.init) ?? ""
            #expect(last == "NAME" || text.contains(last), "\(key.path)")
        }
    }

    @Test func whatIsSaidLastCounts() throws {
        let profile = try profile([
            line("transfer.framing", "length"), line("transfer.framing", "chunked"),
            line("transfer.stall-seconds", "3"), line("limits.seconds", "60"),
        ])
        #expect(profile.transfer.framing == .chunked)
        #expect(profile.transfer.stall == .seconds(3))
        #expect(profile.limits.longest == .seconds(60))
        #expect(profile.name == "base")
    }

    /// Whatever is in a value, it stays the value of its field.
    @Test(arguments: [
        "x\"\nauth.command = \"rm", "x\u{7F}\u{1B}[31m", "\u{27}\u{27}\u{27}", "\\", "\"", "a=b",
        "{language}", "", "[x", "# remark", "\u{202E}", "x' , y = '",
        String(repeating: "x", count: 100_000),
    ])
    func aValueStaysAValue(_ text: String) throws {
        for path in ["headers.X-A", "words.language", "body.template", "query.a.b", "auth.scheme"] {
            var table = try SettingsDocument.parse(line(path, text), file: "f")
            var value = SettingsValue.table(table)
            var names: [String] = []
            while case .table(let inner) = value {
                table = inner
                #expect(table.members.count == 1)
                let member = try #require(table.members.first)
                names.append(member.name)
                value = member.node.value
            }
            #expect(value == .string(text))
            #expect(names.joined(separator: ".") == path)
        }
    }

    /// A value that is TOML cannot become two.
    @Test(arguments: [
        "[\"a\"]\nauth.command = \"rm\"", "{ a = 1 }\nb = 2", "true\nx = 1", "5\nx = 1",
        "[\"a\"] x = 1", "5, x = 1",
    ])
    func aLineStaysALine(_ text: String) throws {
        for path in ["transfer.redirect-to", "auth.user", "transfer.endpointing", "limits.seconds"]
        {
            // What cannot be read is refused.
            let table = try? SettingsDocument.parse(line(path, text), file: "f")
            #expect(table.map { $0.members.count == 1 } ?? true)
        }
    }

    @Test func aNameMayHoldAnything() throws {
        let profile = try profile([
            line("body.fields.a.b\" = 1", "x"), line("query.k=\n", "y"),
        ])
        #expect(profile.body.fields.map(\.name) == ["a.b\" = 1"])
        #expect(profile.query.map(\.name) == ["k=\n"])
        #expect(profile.body.kind == .form)
    }

    @Test func severalFieldsHaveOneName() throws {
        let profile = try profile(
            [line("body.fields.g[]", #"["word", "segment"]"#)],
            over: "url = 'https://a/'\nbody.fields = { a = '1', 'g[]' = 'x', z = '2' }")
        #expect(profile.body.fields.map(\.value.text) == ["1", "word", "segment", "2"])
    }

    @Test(arguments: [
        ("endpointing", ["transfer.endpointing"]), ("transfer.framin", ["transfer.framing"]),
        ("body.file-feild", ["body.file-field"]), ("minimum-tls", ["connection.minimum-tls"]),
        ("framing", ["transfer.framing", "answer.framing"]), ("elsewhere.nowhere", []),
    ])
    func theNearestFieldsAreFound(_ typed: String, _ meant: [String]) {
        #expect(ProfileKey.named(typed) == nil)
        #expect(ProfileKey.nearest(to: typed) == meant)
    }

    @Test(arguments: [
        ("4x", CatchUpRate.times(4)), ("64k", .bytes(perSecond: 64_000)), ("1x", nil), ("0", nil),
        ("fast", nil), ("1M", .bytes(perSecond: 1_000_000)),
    ])
    func aRateIsAFactorOrBytes(_ text: String, _ rate: CatchUpRate?) {
        #expect(CatchUpRate(text) == rate)
    }
}
