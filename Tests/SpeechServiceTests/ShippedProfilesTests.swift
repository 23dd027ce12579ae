// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import Settings
@testable import SpeechService

@Suite struct ShippedProfilesTests {
    private func profile(_ name: String) throws -> ServiceProfile {
        let texts = try ProfileChain.texts(
            of: name, in: [{ ShippedProfiles.text(of: $0) }])
        return try ServiceProfile(texts: try #require(texts))
    }

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
        do {
            let profile = try profile(name)
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
        } catch let error as SettingsError {
            Issue.record("\(error.text(of: name))")
        } catch let error as ProfileError {
            Issue.record("\(error)")
        }
    }

    /// These were written from their documentation when nothing here knew the services.
    @Test(arguments: ["soniox", "azure-fast", "cloudflare", "hugging-face", "volcengine"])
    func aServiceThatWasNotKnownIsShort(name: String) throws {
        let text = try #require(ShippedProfiles.text(of: name)?.text)
        #expect(text.split(separator: "\n").count < 20)
    }

    @Test func aCompatibleServiceIsShort() throws {
        for name in ["groq", "mistral", "speaches", "localai", "vllm", "faster-whisper-server"] {
            let text = try #require(ShippedProfiles.text(of: name)?.text)
            #expect(text.split(separator: "\n").count < 15)
        }
    }
}
