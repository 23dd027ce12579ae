// SPDX-License-Identifier: Apache-2.0

import LinuxPlatform
import Synchronization
import TestSupport
import Testing
import Utter

@testable import Fleet

/// A store that is busy, lies, or does not know conditions.
@Suite struct ObjectStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store whose server answers so.
    private func store(
        _ answer: @escaping @Sendable (RecordedRequest) -> ServerAnswer
    ) throws -> (ObjectStore, RecordingServer, FleetNumbers) {
        let server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .respondBy(answer)])
        try folder.write(
            Array("extends = 's3'\nurl = '\(server.url())b/{key}'\n".utf8), to: "s3.toml")
        let service = try Service(
            folder.path("s3.toml"), words: ["bucket": "b", "key": "fleet/mark"])
        let opened = try ObjectLink(service.delivery) { _ in "secret" }
        let link = try #require(opened)
        let numbers = FleetNumbers()
        return (ObjectStore(link, prefix: "fleet", numbers: numbers), server, numbers)
    }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StoreFailure) -> Value
    ) async throws -> Value { try await NamedThread.result(name: "store-test", of: body).get() }

    private final class Script: Sendable {
        private let rest: Mutex<ArraySlice<ServerAnswer>>

        init(_ answers: [ServerAnswer]) { rest = Mutex(answers[...]) }

        func next() -> ServerAnswer {
            rest.withLock { $0.popFirst() } ?? ServerAnswer(status: 200, text: "")
        }
    }

    private func scripted(
        _ answers: [ServerAnswer]
    ) throws -> (ObjectStore, RecordingServer, FleetNumbers) {
        let script = Script(answers)
        return try store { _ in script.next() }
    }

    @Test func aBusyStoreIsAskedAgain() async throws {
        let (store, server, numbers) = try scripted([
            ServerAnswer(status: 503, text: ""), ServerAnswer(status: 409, text: ""),
            ServerAnswer(status: 200, text: ""),
        ])
        let isWritten = try await run { () throws(StoreFailure) in
            try store.put("results/a", [1], if: .absent)
        }
        #expect(isWritten)
        #expect(server.requests.count == 3)
        #expect(server.requests.allSatisfy { $0.target == "/b/fleet/results/a" })
        #expect(numbers[.storeErrors] == 2)
        store.link.shutDown()
    }

    @Test func aConditionThatDoesNotHoldIsSaid() async throws {
        let (store, server, _) = try scripted([ServerAnswer(status: 412, text: "")])
        let isWritten = try await run { () throws(StoreFailure) in
            try store.put("a", [1], if: .absent)
        }
        #expect(!isWritten)
        #expect(server.requests.count == 1)
        store.link.shutDown()
    }

    @Test(arguments: [200, 501])
    func aStoreThatDoesNotHeedConditionsIsRefused(_ status: Int) async throws {
        let (store, server, _) = try self.store { request in
            let isConditional = request.headers.contains {
                $0.name.lowercased().hasPrefix("if-")
            }
            return ServerAnswer(status: isConditional ? status : 200, text: "")
        }
        let refusal = await #expect(throws: StoreFailure.self) {
            _ = try await run { () throws(StoreFailure) in try store.probe(isOptional: false) }
        }
        #expect(refusal?.isLasting == true)
        let heeds = try await run { () throws(StoreFailure) in try store.probe(isOptional: true) }
        #expect(!heeds)
        // A look stands for the condition from then on.
        let before = server.requests.count
        let isWritten = try await run { () throws(StoreFailure) in
            try store.put("a", [1], if: .absent)
        }
        #expect(!isWritten)
        #expect(server.requests.dropFirst(before).map(\.method) == ["GET"])
        store.link.shutDown()
    }

    @Test func aListingThatLeavesThePrefixOrDoesNotGoOnIsNotFollowed() async throws {
        let keys = ["fleet/takes/a", "other/takes/b", "fleet/results/c", "../x", "fleet/takes/"]
        let contents = keys.map { "<Contents><Key>\($0)</Key><Size>1</Size></Contents>" }.joined()
        let (store, server, _) = try self.store { _ in
            ServerAnswer(
                status: 200,
                text: "<ListBucketResult>\(contents)<IsTruncated>true</IsTruncated>"
                    + "</ListBucketResult>")
        }
        let found = try await run { () throws(StoreFailure) in
            var reader = ListingReader(store, "takes/")
            var keys: [String] = []
            while let object = try reader.next() { keys.append(object.key) }
            return keys
        }
        #expect(found == ["takes/a", "takes/"])
        #expect(server.requests.count == 2)
        store.link.shutDown()
    }

    @Test func anObjectThatIsTooLongIsNotTaken() async throws {
        let long = String(repeating: "x", count: 100_000)
        let (store, server, _) = try self.store { _ in ServerAnswer(status: 200, text: long) }
        let failure = await #expect(throws: StoreFailure.self) {
            _ = try await run { () throws(StoreFailure) in try store.get("a", limit: 65_536)?.tag }
        }
        #expect(failure?.isTooLong == true)
        #expect(server.requests.count == 1)
        store.link.shutDown()
    }
}
