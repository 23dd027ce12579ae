// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Utter

/// Uploads that lie at a store and never end.
@Suite struct OpenUploadTests {
    private static func upload(_ key: String, _ id: String, _ begun: String) -> String {
        "<Upload><Key>\(key)</Key><UploadId>\(id)</UploadId><Initiator><ID>me</ID></Initiator>"
            + "<Initiated>\(begun)</Initiated></Upload>"
    }

    /// A store with an upload of long ago and one that has just begun.
    private func store(_ status: Int = 200) throws -> RecordingServer {
        let now = Date().formatted(.iso8601)
        let list =
            "<?xml version=\"1.0\"?><ListMultipartUploadsResult><Bucket>bucket</Bucket>"
            + "<KeyMarker/>"
            + Self.upload("voices/2026-01-02/a b.wav", "o&amp;ld", "2026-01-02T03:04:05.000Z")
            + Self.upload("voices/now.wav", "new", now) + "</ListMultipartUploadsResult>"
        return try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd,
                .respondBy { request in
                    request.method == "GET"
                        ? ServerAnswer(
                            status: status,
                            headers: [HeaderField("Content-Type", "application/xml")],
                            text: status == 200 ? list : "<Error><Code>AccessDenied</Code></Error>")
                        : ServerAnswer(status: 204, text: "")
                },
            ])
    }

    /// The same store, with the bucket in the path.
    private func profile(_ server: RecordingServer, in folder: TemporaryFolder) throws -> String {
        try folder.write(
            Array("extends = 's3'\nurl = '\(server.url("/{bucket}/{key}"))'\n".utf8),
            to: "there.toml")
    }

    private func delivery(
        _ server: RecordingServer, key: String = "voices/{date}/{id}.{ext}"
    ) throws -> DeliveryPlan {
        let folder = try TemporaryFolder()
        return try Service(
            profile(server, in: folder), words: ["bucket": "bucket", "key": key]
        ).delivery
    }

    private func pipeline() throws -> Pipeline {
        try Pipeline(spool: nil) { _ in "sesame" }
    }

    @Test func thoseThatBeganLongAgoAreListedAndDropped() async throws {
        let server = try store()
        let pipeline = try pipeline()
        defer { pipeline.shutDown() }
        let delivery = try delivery(server)
        let found = try #require(
            try await pipeline.openUploads(at: delivery, olderThan: .seconds(86_400)))
        #expect(found.map(\.key) == ["voices/2026-01-02/a b.wav"])
        #expect(server.requests.map(\.target) == ["/bucket/?uploads&prefix=voices%2F"])
        for upload in found { try await pipeline.abort(upload, at: delivery) }
        let last = try #require(server.requests.last)
        #expect(last.method == "DELETE")
        #expect(last.target == "/bucket/voices/2026-01-02/a%20b.wav?uploadId=o%26ld")
        #expect(last.body.isEmpty)
    }

    /// The folder of the objects, up to the first mark.
    @Test(arguments: [
        ("{id}.{ext}", ""), ("take-{id}.{ext}", ""), ("voices/take-{id}.{ext}", "voices%2F"),
        ("fixed.wav", ""),
    ])
    func thoseOfTheFolderAreAskedFor(_ key: String, _ folder: String) async throws {
        let server = try store()
        let pipeline = try pipeline()
        defer { pipeline.shutDown() }
        _ = try await pipeline.openUploads(at: try delivery(server, key: key), olderThan: .zero)
        #expect(server.requests.map(\.target) == ["/bucket/?uploads&prefix=\(folder)"])
    }

    @Test func aStoreThatRefusesIsNamed() async throws {
        let server = try store(403)
        let pipeline = try pipeline()
        defer { pipeline.shutDown() }
        let error = await #expect(throws: OpenUploadError.self) {
            try await pipeline.openUploads(at: try delivery(server), olderThan: .zero)
        }
        #expect(error?.description.contains("status 403") == true, "\(error as Any)")
        let webdav = DeliveryPlan(
            service: try RecognitionService(url: ServiceURL("http://127.0.0.1:9/")))
        #expect(try await pipeline.openUploads(at: webdav, olderThan: .zero) == nil)
    }

    /// But for an upload with which a take goes on.
    @Test func doctorAsksTheStoresToWhichTakesWent() async throws {
        let ids = ["o&ld", "own"]
        let list = ids.map {
            Self.upload("a.wav", $0.replacing("&", with: "&amp;"), "2026-01-02T03:04:05Z")
        }
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd,
                .respondBy { request in
                    switch request.method {
                    case "GET": ServerAnswer(text: "<L>" + list.joined() + "</L>")
                    case "POST": ServerAnswer(text: "<R><UploadId>own</UploadId></R>")
                    default: ServerAnswer(status: 503, text: "")
                    }
                },
            ])
        let bench = try Bench([
            "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "sesame",
        ])
        try bench.writeProfile(
            "extends = 's3'\nurl = '\(server.url("/{bucket}/{key}"))'\n[exchange]\nsmallest = 10000\n",
            to: "there")
        let sent = try await bench.run(
            "send", "-q", "-c", "retry.never=true", "--service", "there", "--to",
            "s3://bucket/a.wav", Clip.goForward.path)
        #expect(sent.status == .exited(75), "\(sent.errorText)")
        let result = try await bench.run("doctor", "recordings")
        #expect(result.outputText.contains("1 upload at the store began"), "\(result.outputText)")
    }

    @Test func doctorSaysWhatLiesInTheFolderOfTheArchive() async throws {
        let server = try store()
        let bench = try Bench(
            server: server,
            [
                "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "sesame",
                "UTTER_ARCHIVE": "s3://bucket/voices/{id}.{ext}",
            ])
        let profile = try profile(server, in: bench.folder)
        let result = try await bench.start(
            ["doctor", "-c", "archive.service=\(profile)", "recordings"]).result()
        #expect(
            result.outputText.contains(
                "1 upload at the store began more than a day ago and never ended, such as "
                    + "'voices/2026-01-02/a b.wav' of 2026-01-02T03:04:05.000Z"),
            "\(result.outputText)\(result.errorText)")
        // Nobody is there to be asked.
        #expect(server.requests.map(\.method) == ["GET"])
        #expect(server.requests.first?["Authorization"]?.contains("AWS4-HMAC-SHA256") == true)
    }
}
