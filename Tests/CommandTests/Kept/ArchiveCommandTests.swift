// SPDX-License-Identifier: Apache-2.0

import Glibc
import SpeechService
import TestSupport
import Testing
import UtterSettings

@testable import UtterCommands

/// What a person sees of an archive.
@Suite struct ArchiveCommandTests {
    private let objects: FileServer
    private let service: RecordingServer
    private let bench: Bench
    private var store: RecordingServer { objects.server }

    init() throws {
        objects = try FileServer(keepsConnections: true)
        service = try .hearing("well said")
        bench = try Bench(
            server: service, ["UTTER_ARCHIVE": objects.server.url("/voices/{date}/{id}.{ext}")])
    }

    @Test func aTextIsPrintedAndItsRecordingStored() async throws {
        let result = try await bench.run("send", "-v", Clip.goForward.path)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText == "well said\n")
        let id = try #require(try bench.takes().first?.id)
        #expect(store.requests.map(\.method) == ["PUT", "HEAD", "PUT", "HEAD", "PUT", "HEAD"])
        let puts = store.requests.filter { $0.method == "PUT" }
        let targets = puts.map(\.target)
        #expect(targets.allSatisfy { $0.contains("/\(id).") && $0.hasPrefix("/voices/2") })
        #expect(targets.map { $0.suffix(4) } == [".wav", ".txt", "json"])
        let types = puts.map { $0["Content-Type"] }
        #expect(types == ["audio/wav", "text/plain; charset=utf-8", "application/json"])
        #expect(puts.allSatisfy { $0["If-None-Match"] == "*" })
        let shown = try await bench.here("show", "last")
        #expect(shown.outputText.contains("archive     \(store.url())voices/"))
        #expect(!shown.outputText.contains("not stored yet"))
        let removed = try await bench.run("rm", "-y", "last")
        #expect(removed.errorText.contains("the archive keeps its copy: \(store.url())voices/"))
        _ = try await bench.run("rm", "--undo")
        let answered = try await bench.run("rm", "--answered")
        #expect(answered.errorText.contains("the archive keeps its copies: 1 of them"))
    }

    /// Its service is the archive itself: the audio goes there once, and only the rest follows.
    @Test func aMachineThatOnlyRecordsNamesEachTake() async throws {
        let place = objects.server.url("/voices/{date}/{id}.{ext}")
        for _ in 0..<2 {
            let result = try await bench.run(
                "send", "--service", "webdav", "--to", place, "--format", "wav",
                Clip.goForward.path)
            #expect(result.status == .exited(0), "\(result.errorText)")
        }
        let ids = try bench.takes().map(\.id)
        let names = objects.files.keys.sorted()
        #expect(names.count == 4, "\(names)")
        for id in ids {
            let form = /\/voices\/20\d\d-\d\d-\d\d\/\S+/
            #expect(names.filter { $0.contains(id) }.map { $0.suffix(4) } == ["json", ".wav"])
            #expect(names.allSatisfy { $0.wholeMatch(of: form) != nil })
        }
        #expect(
            objects.files.values.allSatisfy {
                !String(decoding: $0, as: UTF8.self).contains("profile")
            })
    }

    @Test func anArchiveThatIsAwayIsTriedAgainByFlush() async throws {
        objects.mood = .away
        let result = try await bench.run("send", Clip.goForward.path)
        // The text is there: nothing has failed.
        #expect(result.status == .exited(0))
        #expect(result.outputText == "well said\n")
        #expect(result.errorText.contains("the archive is still to get 1 take: "))
        let hint =
            "hint: send all of it now, to where archive.to leads today, with: utter retry all"
        #expect(result.errorText.contains(hint))
        let list = try await bench.here("list")
        #expect(list.errorText.contains("the archive is still to get 1 take: "))
        let json = try await bench.here("list", "--json")
        #expect(json.outputText.contains("\"isQueued\" : true"))
        let removed = try await bench.run("rm", "-y", "last")
        #expect(removed.errorText.contains("the archive still gets its copy: "))
        _ = try await bench.run("rm", "--undo")
        objects.mood = .kind
        // What the archive has failed with several times has a pause, unless a person asks.
        let again = try await bench.run("retry", "all")
        #expect(again.status == .exited(0), "\(again.errorText)")
        #expect(again.errorText.contains("stored 1 take in the archive"))
        #expect(objects.files.count == 3)
        #expect(try await bench.here("list").errorText == "")
    }

    /// A timer leaves what waits where it was meant to go; a person corrects the place, and asks.
    @Test func whatWaitsGoesToTheArchiveOfTodayWhenAPersonAsks() async throws {
        objects.mood = .away
        #expect(try await bench.run("send", Clip.goForward.path).status == .exited(0))
        let other = try FileServer(keepsConnections: true)
        let today = ["UTTER_ARCHIVE": other.server.url("/there/{date}/{id}.{ext}")]
        #expect(try await bench.start(["flush"], variables: today).result().status == .exited(75))
        #expect(other.server.requests.isEmpty)
        let asked = try await bench.start(["retry", "all"], variables: today).result()
        #expect(asked.status == .exited(0), "\(asked.errorText)")
        #expect(other.files.count == 3)
        #expect(other.files.keys.allSatisfy { $0.hasPrefix("/there/2") })
    }

    /// Apache makes no folder by itself, and a link may break at each of its answers.
    @Test func foldersAreMadeWhereTheyAreMissing() async throws {
        let root = try TemporaryFolder()
        let place = try await StaticServer(.apache, of: root)
        for cut in [nil, 10, 200, 450, 900] {
            let plans = cut.map { [LinkPlan(LinkFault(.reset, .toClient, at: $0))] } ?? []
            let proxy = try FaultProxy(to: place.port, plans: plans)
            let folder = "my voices \(cut ?? 0)"
            let archive = "http://127.0.0.1:\(proxy.port)/\(folder)/{date}/{id}.{ext}"
            let bench = try Bench(server: service, ["UTTER_ARCHIVE": archive])
            // The second take finds its folders there; what was cut is over by then.
            let count = cut == nil ? 2 : 1
            for _ in 0..<count {
                let sent = try await bench.run("send", Clip.goForward.path)
                #expect(sent.status == .exited(0))
                _ = try await bench.run("retry", "all")
            }
            let day = try #require(try root.names(in: folder).first)
            let names = try root.names(in: "\(folder)/\(day)")
            #expect(names.count == 3 * count, "\(names)")
            for name in names where name.hasSuffix(".txt") {
                #expect(
                    try root.read("\(folder)/\(day)/\(name)") == Array("well said\n".utf8))
            }
        }
    }

    @Test(
        arguments: [
            ([], 409, ["/a/", "/a/b%20c/"]),
            // It may not be looked at.
            ([409, 429, 201, 201, 201, 403], 500, ["/a/", "/a/", "/a/b%20c/"]),
        ] as [([Int], Int, [String])])
    func aFolderIsMadeOnceOrAsOftenAsItIsRefusedForNow(
        _ statuses: [Int], _ otherwise: Int, _ folders: [String]
    ) async throws {
        let place = try RecordingServer(
            scripts: statuses.map { [ServerStep].answer(status: $0, text: "") },
            otherwise: .answer(status: otherwise, text: "no folder"))
        let result = try await Bench(server: place).run(
            "send", "--service", "webdav", "--to", place.url() + "a/b%20c/d.wav?e=f",
            Clip.goForward.path)
        #expect(result.status == .exited(statuses.isEmpty ? 69 : 0), "\(result.errorText)")
        #expect(
            place.requests.map(\.method) == ["PUT"] + folders.map { _ in "MKCOL" } + ["PUT"]
                + (statuses.isEmpty ? [] : ["HEAD"]))
        #expect(
            place.requests.filter { $0.method == "MKCOL" }.map(\.target) == folders)
        #expect(place.requests[1].body.isEmpty)
    }

    @Test func aPlaceThatCannotBeUsedIsSaidWhenItIsSet() async throws {
        let bench = try Bench()
        let good = try await bench.here(
            "config", "set", "archive.to", "http://127.0.0.1:9/{id}.{ext}")
        #expect(good.status == .exited(0) && good.errorText.isEmpty, "\(good.errorText)")
        let bad = try await bench.here(
            "config", "set", "archive.to", "http://127.0.0.1:9/one.wav")
        #expect(bad.status == .exited(0))
        #expect(bad.errorText.contains("an archive has a place for each take"))
        let checked = try await bench.here("config", "check")
        #expect(checked.errorText.contains("an archive has a place for each take"))
    }

    @Test func whatIsNoPlaceForAnArchiveIsRefusedBeforeAnythingIsSent() async throws {
        let keys = ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"]
        for (place, reason) in [
            ("s3://voices/one.wav", "an archive has a place for each take"),
            ("s3://voices", "an object has a key"),
            ("ftp://there/{id}.{ext}", "must begin with http"),
            ("http://127.0.0.1:9/{id}.{ext}?token=sesame", "a secret in a URL"),
        ] {
            try bench.within(keys.merging(["UTTER_ARCHIVE": place]) { $1 }) {
                let error = #expect(throws: CommandFailure.self) { _ = try KnownSettings.archive() }
                #expect(error?.status == .configuration)
                #expect(error?.message.hasPrefix("archive.to: ") == true)
                #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
            }
        }
        let result = try await bench.start(
            ["send", Clip.goForward.path], variables: ["UTTER_ARCHIVE": "s3://voices"]
        ).result()
        #expect(result.status == .exited(78), "\(result.errorText)")
        #expect(result.errorText.contains("archive.to: "))
        #expect(result.errorText.contains("an object has a key"))
        #expect(service.requests.isEmpty)
    }

    @Test func anArchiveThatCannotBeUsedHoldsUpNoKeptTake() async throws {
        let wrong = ["UTTER_ARCHIVE": "s3://voices/{id}.{ext}"]
        _ = try await bench.keep()
        let result = try await bench.start(
            ["retry", "--to", service.url(), "last"], variables: wrong
        ).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText == "well said\n")
        #expect(result.errorText.contains("utter: warning: archive.to: "))
        #expect(try await bench.here("list").errorText.contains("still to get 1 take"))
        // It gets the take once it can be used.
        #expect(try await bench.run("flush").status == .exited(0))
        #expect(objects.files.count == 3)
    }

    @Test func nothingIsArchivedThatIsNotKept() async throws {
        let result = try await bench.run("send", "--no-keep", Clip.goForward.path)
        #expect(result.status == .exited(0))
        #expect(store.requests.isEmpty)
    }

    @Test func theFileThatHasNoKeysIsNamed() async throws {
        mkdir(bench.folder.path(".aws"), 0o700)
        let path = bench.folder.path(".aws/credentials")
        let whole = "[default]\naws_access_key_id=AKIATEST\naws_secret_access_key=hush\n"
        for (text, mode, profile, reason) in [
            (nil, 0o600, "", "'\(path)' is not there"),
            (whole, 0o644, "", "'\(path)' can be read by others (mode 0644)"),
            (whole, 0o600, "other", "'\(path)' has no aws_"),
            (whole, 0o600, "", nil),
        ] as [(String?, mode_t, String, String?)] {
            if let text { try bench.folder.write(Array(text.utf8), to: ".aws/credentials") }
            chmod(path, mode)
            try bench.within(["AWS_PROFILE": profile]) {
                if let reason {
                    let said = SharedCredentials.absence(of: "AWS_SECRET_ACCESS_KEY")
                    #expect(said.hasPrefix("AWS_SECRET_ACCESS_KEY is not set, and \(reason)"))
                }
                let state = try Profiles.shipped.profile("s3").tokenState
                #expect(state.contains("is not set") == (reason != nil), "\(state)")
            }
        }
        chmod(path, 0o644)
        let result = try await bench.start(
            ["send", "-q", "--to", "s3://voices/a.wav", "-c", "retry.never=true"]
                + ["-c", "connection.resolve=voices.s3.us-east-1.amazonaws.com:443:127.0.0.1"]
                + [Clip.goForward.path], variables: ["UTTER_ARCHIVE": ""]
        ).result()
        let reason = "is not set, and '\(path)' can be read by others (mode 0644)"
        #expect(result.errorText.contains(reason), "\(result.errorText)")
    }

    @Test func theKeysOfAStoreComeFromItsFileWhereNoVariableIsSet() async throws {
        mkdir(bench.folder.path(".aws"), 0o700)
        try bench.folder.write(
            Array(
                """
                [other]
                aws_access_key_id = not
                aws_secret_access_key = these
                [default]
                aws_access_key_id=AKIATEST
                aws_secret_access_key = hush-hush
                """.utf8), to: ".aws/credentials")
        try bench.writeProfile(
            "extends = 's3'\nurl = '\(store.url())voices/{key}'\n", to: "there")
        let words = ["send", "-q", "--service", "there", "--to", "s3://voices/a.wav"]
        let result = try await bench.start(
            words + [Clip.goForward.path], variables: ["UTTER_ARCHIVE": ""]
        ).result()
        #expect(result.status == .exited(0), "\(result.errorText)")
        let signature = store.requests.first?["Authorization"] ?? ""
        #expect(signature.contains("Credential=AKIATEST/"))
        let half = try await bench.start(
            words + [Clip.goForward.path],
            variables: ["UTTER_ARCHIVE": "", "AWS_ACCESS_KEY_ID": "AKIAOTHER"]
        ).result()
        // The key of one and the name of another open nothing.
        #expect(half.status == .exited(78), "\(half.errorText)")
        #expect(!half.errorText.contains("hush"))
    }
}
