// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RecognitionEndpoint

@Suite struct ServedRequestTests {
    /// Runs an endpoint while `body` runs, and takes its records of so many requests.
    private func records(
        _ count: Int, _ change: (inout RecognitionEndpointConfiguration) -> Void = { _ in },
        _ body: @escaping (Int) async throws -> Void
    ) async throws -> [ServedRequest] {
        let (requests, served) = AsyncStream.makeStream(of: ServedRequest.self)
        return try await TestEndpoint.run {
            change(&$0)
            $0.onRequest = { served.yield($0) }
        } _: { port, _ in
            try await body(port)
            var records: [ServedRequest] = []
            for await request in requests {
                records.append(request)
                if records.count == count { break }
            }
            return records
        }
    }

    @Test func aRecognitionIsToldWithoutItsQueryAndWithItsAudio() async throws {
        let audio = try Samples.wav("go-forward")
        let records = try await records(1) { port in
            try await onThread {
                let client = try RawClient(port: port)
                try client.sendHead("/recognize?key=sesame", ["Content-Type: audio/wav"])
                try client.sendChunk(audio)
                try client.sendEnd()
                _ = try client.readAnswer()
            }
        }
        let record = try #require(records.first)
        #expect(record.peer.hasPrefix("127.0.0.1:"))
        #expect(record.method == "POST")
        #expect(record.path == "/recognize")
        #expect(record.mediaType == "audio/wav")
        #expect(record.byteCount == audio.count)
        #expect(record.audioDuration.map { (2.78...2.8).contains($0) } == true)
        #expect(record.status == 200)
        #expect(record.isAnswered)
        #expect(record.duration > .zero)
        #expect(!"\(record)".contains("sesame"))
    }

    @Test func aRefusalAndWhatIsNotHTTPAreToldToo() async throws {
        let records = try await records(3) { port in
            let answer = try await TestEndpoint.post([1, 2], type: "text/html", to: port)
            #expect(answer.head.status == 415)
            try await onThread {
                let client = try RawClient(port: port)
                let requests = "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\nSPEAK now\r\n\r\n"
                try client.send(Array(requests.utf8))
                _ = try client.readAnswer()
                _ = try client.readAnswer()
            }
        }
        #expect(records.map(\.status) == [415, 200, 400])
        #expect(records.map(\.method) == ["POST", "GET", ""])
        #expect(records.map(\.path) == ["/recognize", "/healthz", ""])
        #expect(records.allSatisfy { $0.audioDuration == nil })
    }

    @Test func aBodyThatIsCutIsTold() async throws {
        let records = try await records(1) { port in
            try await onThread {
                let client = try RawClient(port: port)
                try client.sendHead("/recognize", ["Content-Type: audio/pcm"])
                try client.sendChunk([0, 0, 0, 0])
            }
        }
        #expect(records.first?.byteCount == 4)
        #expect(records.first?.audioDuration == nil)
    }
}
