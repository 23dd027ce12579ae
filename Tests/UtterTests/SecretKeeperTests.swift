// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import SpeechService
@testable import Utter

/// Which question is asked when, and whom its answer serves.
@Suite struct SecretKeeperTests {
    /// An owner who answers by a script, and writes down what was asked.
    private final class Owner: Sendable {
        let asked = Mutex<[SecretQuestion]>([])
        /// Opened by the test when the owner may answer.
        let door = Gate()
        let answers: @Sendable (Int) throws -> String

        init(isOpen: Bool = true, _ answers: @escaping @Sendable (Int) throws -> String) {
            self.answers = answers
            if isOpen { door.open() }
        }

        @Sendable func answer(_ question: SecretQuestion) async throws -> String {
            let number = asked.withLock { asked in
                asked.append(question)
                return asked.count
            }
            #expect(await door.wait())
            return try answers(number)
        }

        var count: Int { asked.withLock { $0.count } }
    }

    private struct Reason: Error, CustomStringConvertible { let description: String }

    /// A clock that goes on when the test says so.
    private final class Clock: Sendable {
        let time = Mutex(Duration.zero)
        @Sendable func now() -> Duration { time.withLock { $0 } }
        func pass(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private func service(
        _ origin: String = "https://speech.example"
    ) throws -> RecognitionService {
        try RecognitionService(
            url: ServiceURL("\(origin)/v1"),
            credential: Credential(askedOf: .command("pass speech")))
    }

    private func secret(
        _ keeper: SecretKeeper, _ service: RecognitionService, refused: [Credential] = []
    ) async -> String {
        switch await keeper.credentials(of: service, afterRefusalOf: refused) {
        case .success(let found): found.compactMap(\.value).joined(separator: ", ")
        case .failure(let failure): "failed: \(failure.reason)"
        }
    }

    @Test func anAnswerServesAllTakesOfItsSourceAndOriginForFiveMinutes() async throws {
        let (owner, clock) = (Owner { "key \($0)" }, Clock())
        let keeper = SecretKeeper(owner.answer, now: clock.now)
        #expect(await secret(keeper, try service()) == "Bearer key 1")
        clock.pass(.seconds(299))
        #expect(await secret(keeper, try service()) == "Bearer key 1")
        #expect(await secret(keeper, try service("https://other.example")) == "Bearer key 2")
        clock.pass(.seconds(1))
        #expect(await secret(keeper, try service()) == "Bearer key 3")
        #expect(owner.asked.withLock { $0.map(\.isRefused) } == [false, false, false])
    }

    @Test func aRefusedAnswerIsAskedForOnceMore() async throws {
        let owner = Owner { "key \($0)" }
        let keeper = SecretKeeper(owner.answer)
        let service = try service()
        let first = try await keeper.credentials(of: service).get()
        #expect(await secret(keeper, service, refused: first) == "Bearer key 2")
        // Another take that was refused with the first is served by the second.
        #expect(await secret(keeper, service, refused: first) == "Bearer key 2")
        #expect(owner.asked.withLock { $0.map(\.isRefused) } == [false, true])
    }

    @Test func aRefusedAnswerServesNoOtherTake() async throws {
        let owner = Owner { "key \(min($0, 2))" }
        let keeper = SecretKeeper(owner.answer)
        let service = try service()
        let first = try await keeper.credentials(of: service).get()
        keeper.note(refused: first, of: service)
        #expect(await secret(keeper, service) == "Bearer key 2")
        // What was refused before is no matter of the newer one.
        keeper.note(refused: first, of: service)
        #expect(await secret(keeper, service) == "Bearer key 2")
        #expect(owner.asked.withLock { $0.map(\.isRefused) } == [false, true])
        // The owner has no other.
        let second = try await keeper.credentials(of: service).get()
        #expect(await secret(keeper, service, refused: second) == "failed: there is no other")
        #expect(await secret(keeper, service) == "Bearer key 2")
        #expect(owner.asked.withLock { $0.map(\.isRefused) } == [false, true, true, true])
    }

    /// A question that nobody answers holds up the next one only while a take waits for it.
    @Test func aQuestionThatNoTakeWantsIsCancelled() async throws {
        let isAsked = Gate()
        let keeper = SecretKeeper { question in
            guard question.origin.description.contains("stuck") else { return "key" }
            isAsked.open()
            // Ended by its cancellation.
            try await Task.sleep(for: .ages)
            return "late"
        }
        let stuck = try service("https://stuck.example")
        let takes = (0..<2).map { _ in Task { await secret(keeper, stuck) } }
        #expect(await isAsked.wait())
        #expect(await comesTrue { keeper.wantedCount(of: stuck) == 2 })
        let other = try service()
        async let answer = secret(keeper, other)
        takes[0].cancel()
        #expect(keeper.wantedCount(of: stuck) == 1)
        takes[1].cancel()
        #expect(await answer == "Bearer key")
        for take in takes { #expect(await take.value.hasPrefix("failed: ")) }
    }

    @Test func aFailureIsForgotten() async throws {
        let owner = Owner { number in
            guard number > 1 else { throw Reason(description: "the dialog was cancelled") }
            return "key"
        }
        let keeper = SecretKeeper(owner.answer)
        #expect(await secret(keeper, try service()) == "failed: the dialog was cancelled")
        #expect(await secret(keeper, try service()) == "Bearer key")
    }

    @Test func takesThatWaitShareOneQuestion() async throws {
        let owner = Owner(isOpen: false) { "key \($0)" }
        let keeper = SecretKeeper(owner.answer)
        let service = try service()
        let answers = await withTaskGroup(of: String.self) { group in
            for _ in 0..<50 {
                group.addTask { await secret(keeper, service) }
            }
            owner.door.open()
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers == ["Bearer key 1"])
        #expect(owner.count == 1)
    }

    @Test func oneQuestionIsOpenAtATime() async throws {
        let open = Mutex((now: 0, most: 0))
        let keeper = SecretKeeper { question in
            open.withLock { open in
                open.now += 1
                open.most = max(open.most, open.now)
            }
            await Task.yield()
            open.withLock { $0.now -= 1 }
            return "key of \(question.origin)"
        }
        let origins = (0..<20).map { "https://\($0).example" }
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for origin in origins {
                let service = try service(origin)
                group.addTask { await secret(keeper, service) }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers == Set(origins.map { "Bearer key of \($0)" }))
        #expect(open.withLock { $0.most } == 1)
    }

    @Test func anOwnerWithoutAnEndIsWaitedForNoLongerThanItsTime() async throws {
        let keeper = SecretKeeper(
            { _ in
                // Cancelled when the time is over.
                try await Task.sleep(for: .ages)
                return "late"
            }, patience: .zero)
        #expect(
            await secret(keeper, try service())
                == "failed: the command 'pass speech' gave no secret in 0 s")
    }

    @Test func aQuestionThatWaitsIsNotAskedWhenThePipelineHasEnded() async throws {
        let owner = Owner(isOpen: false) { _ in "late" }
        let keeper = SecretKeeper(owner.answer)
        let services = try (1...20).map { try service("https://\($0).example") }
        let answers = await withTaskGroup(of: String.self) { group in
            for service in services { group.addTask { await secret(keeper, service) } }
            #expect(await comesTrue { keeper.openCount == 20 && owner.count == 1 })
            keeper.shutDown()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: "failed: the pipeline has ended", count: 20))
        #expect(owner.count == 1)
        owner.door.open()
    }

    @Test func whatCannotBeSentIsNoSecret() async throws {
        let keeper = SecretKeeper { _ in "tö" }
        #expect(
            await secret(keeper, try service()).hasPrefix("failed: the command 'pass speech': "))
    }

    @Test func withoutAnOwnerThereIsNoAnswer() async throws {
        #expect(
            await secret(SecretKeeper(nil), try service())
                == "failed: the program cannot read the command 'pass speech'")
    }
}

/// Where a secret is read, and which files are refused.
@Suite struct SecretSourceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ text: String, _ mode: mode_t = 0o600) throws -> String {
        let path = try folder.write(Array(text.utf8), to: "key")
        chmod(path, mode)
        return path
    }

    @Test func onlyTheFirstLineOfAFileIsTheSecret() async throws {
        let path = try file("  sesame-4711 \r\n# a remark\n")
        #expect(try await SecretSource.file(path).read() == "sesame-4711")
    }

    @Test func aFileOfHeaderFieldsIsReadWhole() async throws {
        let path = try file("# mine\nX-Model: large\n\nxi-api-key: sesame\n")
        let text = try await SecretSource.headerFile(path).read()
        let fields = try Credential(headerFile: path).answered(text)
        #expect(fields.map(\.place) == [.header("X-Model"), .header("xi-api-key")])
        #expect(fields.map(\.plain) == ["large", "sesame"])
        for wrong in ["", "# mine\n", "sesame\n", "X-Key:\n"] {
            #expect(throws: ServiceError.self) { try Credential(headerFile: path).answered(wrong) }
        }
    }

    @Test(arguments: [
        ("sesame", 0o640, "can be read by others"), ("sesame", 0o604, "can be read by others"),
        ("", 0o600, "has nothing on its first line"),
        (String(repeating: "x", count: 20_000), 0o600, "is too long for a key"),
    ])
    func aFileThatHoldsNoSecretIsRefused(_ text: String, _ mode: Int, _ why: String) async throws {
        let path = try file(text, mode_t(mode))
        #expect(await reason(.file(path)) == "'\(path)' \(why)")
    }

    @Test func whatIsNotThereIsNamed() async throws {
        #expect(await reason(.variable("UTTER_TEST_NONE")) == "UTTER_TEST_NONE is not set")
        #expect(await reason(.file(folder.path)) == "'\(folder.path)' is a folder")
        let outside = await reason(.credential("../key"))
        #expect(outside == "'../key' cannot be the name of a credential")
        #expect(
            await reason(.command("pass speech"))
                == "the program cannot read the command 'pass speech'")
    }

    @Test func aPipeWithoutAWriterIsNotAwaitedForEver() throws {
        let path = folder.path("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: ReadingError.self) {
            try OwnFile(path, patience: .zero).firstLine()
        }
        #expect(error?.description == "'\(path)' is a pipe from which nothing came for 0 s")
    }

    private func reason(_ source: SecretSource) async -> String {
        do throws(ReadingError) {
            return try await source.read()
        } catch {
            return error.description
        }
    }
}
