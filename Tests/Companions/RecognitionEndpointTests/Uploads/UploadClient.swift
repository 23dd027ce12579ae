// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import RecognitionEndpoint

/// Sends the requests of resumable uploads to one endpoint.
struct UploadClient: Sendable {
    /// An answer with what came before it.
    struct Reply {
        var interims: [RawClient.Head] = []
        var head: RawClient.Head
        var body = ""

        var status: Int { head.status }

        subscript(field: String) -> String? { head.fields[field] }
    }

    static let pcm = "Content-Type: audio/pcm;rate=16000;channels=1"
    static let more = "Content-Type: application/partial-upload"
    static let version = "Upload-Draft-Interop-Version: 8"
    static let last = "Upload-Complete: ?1"
    static let notLast = "Upload-Complete: ?0"
    static let plain = [pcm, "Accept: text/plain", version, last]

    let port: Int

    /// Creates an upload, of samples whose text is wanted plain, or of what the fields say.
    func create(
        _ fields: [String] = UploadClient.plain, body: [UInt8] = []
    ) async throws -> Reply {
        try await send("POST", "/recognize", fields, body: body)
    }

    /// Sends a whole request and reads its answer.
    func send(
        _ method: String, _ target: String, _ fields: [String] = [], body: [UInt8] = []
    ) async throws -> Reply {
        try await onThread {
            let client = try RawClient(port: port)
            try client.sendHead(
                target, fields, method: method, framing: "Content-Length: \(body.count)")
            try client.send(body)
            return try Self.read(from: client, method)
        }
    }

    /// Reads an answer and what comes before it.
    static func read(from client: RawClient, _ method: String = "POST") throws -> Reply {
        var reply = Reply(head: try client.readHead())
        while reply.status < 200 {
            reply.interims.append(reply.head)
            reply.head = try client.readHead()
        }
        if method != "HEAD", reply.status != 204 { reply.body = try client.readBody(reply.head) }
        return reply
    }

    /// Creates an upload and reads what comes at once; the body is the caller's to send.
    func begin(_ fields: [String] = []) async throws -> (RawClient, first: RawClient.Head) {
        try await onThread {
            let client = try RawClient(port: port)
            try client.sendHead("/recognize", Self.plain + fields)
            return (client, try client.readHead())
        }
    }

    /// Creates an upload that breaks off when the endpoint has stored so many bytes.
    ///
    /// - Returns: the upload's place.
    func breakOff(
        _ audio: [UInt8], after count: Int, _ fields: [String] = []
    ) async throws -> String {
        let (client, first) = try await begin(["X-Misbehave: close after=\(count)"] + fields)
        #expect(first.status == 104)
        try await Self.sendUntilClosed(audio, with: client)
        return try #require(first.fields["location"])
    }

    /// Appends bytes that break off when the endpoint has stored so many of them.
    func breakOff(
        _ audio: [UInt8], after count: Int, at offset: Int, of place: String
    ) async throws {
        let client = try await onThread {
            try patch(place, at: offset, ["X-Misbehave: close after=\(count)"])
        }
        try await Self.sendUntilClosed(audio, with: client)
    }

    private static func sendUntilClosed(_ audio: [UInt8], with client: RawClient) async throws {
        try await onThread {
            do {
                try client.sendEnd(audio)
                _ = try client.readToEnd()
            } catch RawClient.Failure.reset {
                // It closes while bytes come.
            }
        }
    }

    /// Begins a last append, whose body is the caller's to send; blocks.
    func patch(_ place: String, at offset: Int, _ fields: [String] = []) throws -> RawClient {
        let client = try RawClient(port: port)
        try client.sendHead(
            place, [Self.more, Self.last, "Upload-Offset: \(offset)"] + fields, method: "PATCH")
        return client
    }

    func append(
        _ bytes: some Sequence<UInt8>, at offset: Int, of place: String, last: Bool = true,
        _ fields: [String] = []
    ) async throws -> Reply {
        let state = last ? Self.last : Self.notLast
        return try await send(
            "PATCH", place, [Self.more, state, "Upload-Offset: \(offset)"] + fields,
            body: Array(bytes))
    }

    func offset(of place: String) async throws -> Int? {
        let reply = try await send("HEAD", place)
        #expect(reply.status == 204)
        return reply["upload-offset"].flatMap { Int($0) }
    }
}

/// Runs an endpoint that keeps uploads while `body` runs; it `hears` what is said, or has no model.
func withUploads<Value>(
    in folder: TemporaryFolder? = nil, hears: Bool = true,
    _ change: (inout RecognitionEndpointConfiguration) -> Void = { _ in },
    _ body: (UploadClient) async throws -> Value
) async throws -> Value {
    let folder = try folder ?? TemporaryFolder()
    return try await TestEndpoint.run {
        $0.uploadFolder = folder.path("uploads")
        $0.allowsFaults = true
        $0.shutdownGracePeriod = .milliseconds(500)
        if !hears { TestEndpoint.withoutSound(&$0) }
        change(&$0)
    } _: { port, _ in
        try await body(UploadClient(port: port))
    }
}

/// A clock that stands still until it is set.
final class UploadClock: Sendable {
    private let seconds = Mutex(1_800_000_000)

    var now: Int { seconds.withLock(\.self) }

    func advance(by count: Int) { seconds.withLock { $0 += count } }
}
