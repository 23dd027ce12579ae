// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import SpeechService
@testable import Utter

/// Services by their profiles, as a program describes them.
@Suite struct ServiceTests {
    private let folder: TemporaryFolder
    private var profiles: Profiles { Profiles.shipped + .folder(folder.path) }

    init() throws { folder = try TemporaryFolder() }

    private func write(_ text: String, to name: String) throws {
        try folder.write(Array(text.utf8), to: name)
    }

    @Test func aProfileAndItsWordsMakeThePlan() throws {
        let service = try Service("deepgram", words: ["language": "en"])
        let plan = service.delivery
        #expect(plan.service.url.text.contains("language=en"))
        #expect(plan.service.credentials.map(\.source) == [.variable("DEEPGRAM_API_KEY")])
        #expect(plan.service.lacksSecrets)
        #expect(service.profile?.name == "deepgram")
    }

    @Test func aURLElsewhereLeavesTheSecretBehind() throws {
        var plan = try Service("deepgram").delivery
        let old = plan.service.credentials
        plan.service.url = try ServiceURL("https://api.deepgram.com/v2/listen")
        #expect(plan.service.credentials == old && !old.isEmpty)
        plan.service.url = try ServiceURL("https://other.example/v1/listen")
        #expect(plan.service.credentials.isEmpty && !plan.service.lacksSecrets)
    }

    @Test func whatAServiceDoesWithoutIsNotAskedFor() throws {
        let text = "url = \"https://a.example/\"\n[auth]\nvariable = \"A_KEY\"\noptional = true"
        try write(text, to: "mine.toml")
        let open = try Service("mine", profiles: profiles).delivery.service
        #expect(open.credentials.isEmpty)
        let file = SecretSource.file("/run/key")
        let closed = try Service("mine", token: file, profiles: profiles).delivery.service
        #expect(closed.credentials.map(\.source) == [file])
    }

    @Test func aProfileOfAFolderHidesAShippedOneAndExtendsIt() throws {
        try write("extends = \"deepgram\"\ntitle = \"Mine\"", to: "deepgram.toml")
        let profile = try profiles.profile("deepgram")
        #expect(profile.title == "Mine")
        #expect(profile.tokenSource == .variable("DEEPGRAM_API_KEY"))
        #expect(profiles.names.first == "deepgram")
        #expect(profiles.names.count == Profiles.shipped.names.count)
        let path = "\(folder.path)/deepgram.toml"
        #expect(try Profiles.shipped.profile(path).title == "Mine")
    }

    @Test func whatCannotBeUsedIsSaid() throws {
        let open = folder.path("open.toml")
        try write("url = \"https://a.example/\"", to: "open.toml")
        chmod(open, 0o602)
        try write("urll = 1", to: "bad.toml")
        func said(_ name: String, _ words: [String: String] = [:]) -> String? {
            do throws(ProfileError) {
                _ = try Service(name, words: words, profiles: profiles)
                return nil
            } catch {
                return error.description
            }
        }
        #expect(said("deepgran") == "there is no service 'deepgran'; did you mean 'deepgram'?")
        #expect(said("./none.toml") == "there is no file './none.toml'")
        #expect(said("open") == "\(open): it can be written by others")
        #expect(said("bad")?.hasPrefix("\(folder.path)/bad.toml:1:1: ") == true)
        #expect(said("deepgram", ["tenant": "x"])?.hasSuffix(" has no word 'tenant'") == true)
    }
}
