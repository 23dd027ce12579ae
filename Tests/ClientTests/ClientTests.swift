// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import Utter

/// A program in another package: it sees what is public, and imports nothing but Utter.
@Suite struct ClientTests {
    /// Half a second of silence; not one of the library's own sources.
    private final class Silence: CaptureSource {
        let name = "silence"
        let isLive = false
        private let rest = Atomic(StreamFormat.speech.sampleRate / 2)

        func open() throws(CaptureError) -> StreamFormat { .speech }

        func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
            let count = min(frames.count, rest.load(ordering: .relaxed))
            guard count > 0 else { return .end }
            for index in 0..<count { frames[index] = 0 }
            rest.subtract(count, ordering: .relaxed)
            return .frames(count)
        }

        func appendPollDescriptors(to descriptors: inout [pollfd]) {}

        func requestStop() { rest.store(0, ordering: .relaxed) }

        func close() {}
    }

    /// Nothing listens at port 9, which is discard.
    private static let url = "http://127.0.0.1:9/v1/recognize?language=en"

    private func service() throws -> RecognitionService {
        var service = try RecognitionService(url: ServiceURL(Self.url))
        service.headers.append(try HeaderField(name: "X-Client", value: "test"))
        service.add(try Credential(secret: "sesame"))
        service.add(
            try Credential(place: .query("key"), form: SecretForm("x{}"), secret: "sesame"))
        service.body = .form(
            try AudioForm(fields: [AudioForm.Field(name: "model", value: "large")]))
        service.answer = try AnswerRule("text")
        service.connection.proxy = Proxy.none
        service.connection.minimumTLS = .three
        return service
    }

    @Test func aTakeIsPlannedStartedAndFollowedToItsOutcome() async throws {
        let pipeline = try Pipeline(
            stateFolder: nil, limits: SpoolLimits(takes: 1, bytes: 1 << 20, free: 0),
            retention: .standard)
        defer { pipeline.shutDown() }
        var plan = TakePlan(
            source: Silence(), service: try service(), format: .flac,
            capture: CapturePlan(tail: .none, longest: .seconds(5)),
            deadlines: TransferDeadlines(connect: .seconds(60)), retry: .never)
        plan.isCompleteSoon = true
        plan.delivery.framing = .length
        plan.delivery.catchUpRate = .bytes(perSecond: 1 << 20)
        let take = pipeline.start(plan)

        var order: [String] = []
        for await event in take.events {
            switch event {
            case .listening(let source, let format):
                order.append("\(source) at \(format.sampleRate)")
            case .captured(let end):
                order.append("captured")
                #expect(end.cause == .finished && end.gaps.isEmpty)
            case .heard(let transcript): order.append(transcript.displayText)
            case .refused(let failure), .interrupted(let failure, _):
                order.append(failure.description)
            case .progress(let progress): #expect(progress.level.decibels < 0)
            case .opening, .began, .noticed, .negotiated, .connected, .signal, .lost, .quiet,
                .resumed, .sent, .answeredEarly, .resending:
                break
            }
        }
        #expect(order.prefix(2) == ["silence at 16000", "captured"])

        let outcome = await take.outcome
        #expect(outcome.id == take.id)
        guard case .failure(.notDelivered(let ending, host: _)) = outcome.result else {
            Issue.record("\(outcome.result)")
            return
        }
        #expect(outcome.attempts.map(\.result.ending) == [ending])
        #expect(outcome.attempts.map(\.result.status) == [nil])
        #expect(outcome.account.capturedFrames == 8_000)
        #expect(outcome.account.sentBytes == 0)
        #expect(outcome.imbalance == nil && outcome.takenCount == 0)
        #expect(outcome.length == .milliseconds(500))
    }

    @Test func aSecretIsAskedOfTheProgramWhileTheTakeRecords() async throws {
        struct Locked: Error, CustomStringConvertible { let description = "the vault is locked" }
        let asked = Mutex<[SecretQuestion]>([])
        let pipeline = try Pipeline(stateFolder: nil) { question in
            asked.withLock { $0.append(question) }
            throw Locked()
        }
        defer { pipeline.shutDown() }
        let service = try RecognitionService(
            url: ServiceURL(Self.url),
            credential: Credential(askedOf: .command("pass speech"), form: SecretForm("Token {}")))
        let outcome = await pipeline.start(TakePlan(source: Silence(), service: service)).outcome
        #expect(outcome.result == .failure(.secretMissing(reason: "the vault is locked")))
        #expect(outcome.account.capturedFrames == 8_000)
        let question = try #require(asked.withLock { $0.first })
        #expect(question.source == .command("pass speech") && !question.isRefused)
        #expect(question.origin.description == "http://127.0.0.1:9")
    }

    @Test func aServiceIsDescribedByItsProfile() throws {
        let profiles = Profiles.shipped + .folder("/nonexistent")
        #expect(profiles.names.contains("deepgram"))
        let profile = try profiles.profile("deepgram")
        #expect(profile.title.hasPrefix("Deepgram") && profile.name == "deepgram")
        #expect(!profile.isLive && profile.codecs.contains(.flac))
        let language = try #require(profile.words.first { $0.name == "language" })
        #expect(!language.isRequired && language.choices.isEmpty)
        #expect([language.standard, language.about].count == 2)
        let service = try Service("deepgram", words: ["language": "en"], format: .flac)
        var plan = TakePlan(source: Silence(), service: service)
        plan.delivery.retry = .never
        #expect(plan.delivery.format == .flac)
        #expect(service.delivery.service.url.description.contains("deepgram"))
        #expect(service.profile?.name == "deepgram")
        #expect(Service(try self.service()).profile == nil)
        #expect(profile.tokenSource == .variable("DEEPGRAM_API_KEY"))
        do throws(ProfileError) {
            _ = try Service(profile, words: ["tenant": "x"], token: .file("/run/key"))
            Issue.record("it has no tenant")
        } catch {
            #expect(error.description.hasSuffix(" has no tenant"))
        }
    }

    @Test func aProgramReadsItsSecretsItself() async throws {
        let reading = SecretSource.file("/nonexistent/key")
        let error = await #expect(throws: ReadingError.self) { try await reading.read() }
        #expect(error?.description.contains("/nonexistent/key") == true)
        let pipeline = try Pipeline(stateFolder: nil) { try await $0.source.read() }
        defer { pipeline.shutDown() }
        let service = try RecognitionService(
            url: ServiceURL(Self.url), credential: Credential(askedOf: reading))
        let outcome = await pipeline.start(
            TakePlan(source: Silence(), service: Service(service))
        ).outcome
        #expect(outcome.result == .failure(.secretMissing(reason: error?.description ?? "")))
    }

    @Test func allSourcesAndFormatsArePublic() throws {
        let sources: [any CaptureSource] = [
            Microphone(device: "default"), FileReplay(path: "/dev/null", pace: .unpaced), Silence(),
        ]
        #expect(sources.map(\.isLive) == [true, false, false])
        #expect(AudioCodec.allCases.map(\.name) == ["pcm", "wav", "ogg-opus", "flac"])
        #expect(AudioCodec(rawValue: "mp3") == nil)
    }

    @Test func aWrongPlanSaysWhy() {
        let error = #expect(throws: ServiceError.self) { try ServiceURL("ftp://a/") }
        #expect(error?.description.isEmpty == false)
    }
}
