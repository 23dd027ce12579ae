// SPDX-License-Identifier: Apache-2.0

import TakeStore
import Testing

@testable import Fleet

/// A manifest comes from outside: what a worker takes out of it is checked, and the rest not looked at.
struct WorkManifestTests {
    private static let id = "20261121-052233-k3f9q2m7x4tz"
    private static let key = "takes/2026-11-21/\(id).json"
    private static let digest = String(repeating: "0a", count: 32)

    private func manifest(
        _ changes: [String: String?] = [:], at key: String = key
    ) throws(ManifestMistake) -> WorkManifest {
        var members = [
            "version": "1", "id": "\"\(Self.id)\"", "format": "\"wav\"", "byteCount": "64044",
            "sha256": "\"\(Self.digest)\"", "frames": "32000", "gapFrames": "0",
            "encrypted": "false",
        ]
        for (name, value) in changes { members[name] = value }
        let text = members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        return try WorkManifest(Array("{\(text)}".utf8), at: key, limit: 1 << 30)
    }

    private func mistake(_ changes: [String: String?], at key: String = key) -> String? {
        do throws(ManifestMistake) {
            _ = try manifest(changes, at: key)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func oneOfTheArchiveIsRead() throws {
        let manifest = try manifest([
            "profile": "\"openai\"", "words": #"{"language":"de"}"#, "created": "\"2026\"",
        ])
        #expect(manifest.id.text == Self.id)
        #expect(manifest.audio == "takes/2026-11-21/\(Self.id).wav")
        #expect(manifest.seconds == 2)
        #expect(manifest.profile == "openai")
        #expect(manifest.words == ["language": "de"])
    }

    @Test func whatItSaysOfAServiceIsNotLookedAt() throws {
        let manifest = try manifest([
            "url": "\"https://evil.example/\"", "command": "\"rm -rf /\"",
            "headers": #"{"Authorization":"x"}"#, "proxy": "7", "file": "[]",
        ])
        #expect(try manifest == self.manifest())
    }

    @Test(
        arguments: [
            ("id", "\"20261121-052233-k3f9q2m7x4t0\""), ("id", "\"../x\""), ("id", "7"),
            ("sha256", "\"x\""), ("sha256", "\"\(digest.uppercased())\""), ("sha256", nil),
            ("byteCount", "0"), ("byteCount", "-1"), ("byteCount", "2000000000"),
            ("byteCount", "1e400"), ("byteCount", "\"12\""), ("encrypted", "true"),
            ("format", "\"../wav\""), ("format", "\"\""), ("format", "\"w/v\""),
            ("format", "\"abcdefghi\""), ("frames", "-1"), ("seconds", "1e300"),
            ("profile", "\"../openai\""), ("profile", "\"openai.toml\""), ("profile", "\"/etc/x\""),
            ("profile", "\"\""), ("profile", "\".hidden\""), ("profile", "\"a b\""),
            ("words", #"{"host":"evil.example"}"#), ("words", #"{"region":"x"}"#),
            ("words", #"{"prompt":"a\nb"}"#), ("words", #"{"token":"x"}"#), ("words", "[]"),
            ("audio", "\"../../other/x.wav\""), ("audio", "\"/etc/passwd\""),
            ("audio", "\"a//b.wav\""),
            ("audio", "\"a/./b.wav\""), ("audio", "\"\""), ("audio", "\"a\\u0000b\""),
            ("audio", "\"a\\nb\""), ("audio", "\"results/x.json\""), ("audio", "\"attempts/x\""),
            ("etag", "\"abc\""), ("etag", #""\"a\r\nX: y\"""#),
        ] as [(String, String?)])
    func aHostileMemberIsADeath(_ name: String, _ value: String?) {
        #expect(mistake([name: value]) != nil, "\(name): \(value ?? "-")")
    }

    @Test func aKeyThatIsNotItsOwnIsRefused() {
        for key in [
            "takes/2026-11-21/20261121-052233-000000000000.json", "takes/x/\(Self.id).json",
            "other/2026-11-21/\(Self.id).json", "takes/2026-11-21/a/\(Self.id).json",
            "takes/2026-11-21/../\(Self.id).json", "takes/2026-11-21/\(Self.id).wav", "",
        ] { #expect(mistake([:], at: key) != nil, "\(key)") }
    }

    @Test func whatCannotBeReadIsADeath() {
        let nested = String(repeating: "[", count: 60_000)
        for text in ["", "null", "[]", "{", "\u{0}", nested, "{\"id\":\(nested)"] {
            #expect(throws: ManifestMistake.self) {
                _ = try WorkManifest(Array(text.utf8), at: Self.key, limit: 1)
            }
        }
        #expect(throws: ManifestMistake.self) {
            let long = "{\"x\":\"\(String(repeating: "x", count: 70_000))\"}"
            _ = try WorkManifest(Array(long.utf8), at: Self.key, limit: 1)
        }
    }

    @Test func anObjectThatWasListedHasATagInPlaceOfADigest() throws {
        let manifest = try manifest([
            "sha256": nil, "etag": #""\"9f-3\"""#, "audio": "\"calls/a b/ü.mp3\"",
            "format": "\"mp3\"", "frames": nil,
        ])
        #expect(manifest.audio == "calls/a b/ü.mp3")
        #expect(manifest.tag == "\"9f-3\"")
        #expect(manifest.seconds == 0)
    }

    @Test func aMessageIsOfItsOwnManifestAlone() {
        let take = QueuedTake(#"{"id":"\#(Self.id)","key":"\#(Self.key)"}"#.utf8.map { $0 })
        #expect(take.map { QueuedTake($0.bytes) == take } == true)
        for text in [
            #"{"id":"\#(Self.id)","key":"takes/2026-11-21/20261121-052233-000000000000.json"}"#,
            #"{"id":"\#(Self.id)","key":"../../x"}"#, #"{"id":"x","key":"\#(Self.key)"}"#, "",
            String(repeating: "x", count: 5_000),
        ] { #expect(QueuedTake(Array(text.utf8)) == nil) }
    }
}
