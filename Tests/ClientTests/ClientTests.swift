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

        func addDescriptors(to events: inout PolledDescriptors) {}

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

    @Test func anArchiveIsNamedAndAskedForByAProgram() async throws {
        let store = try Service(
            "s3", words: ["bucket": "voices", "key": "{date}/{id}.{ext}"], token: .given)
        var archive = try Archive(store.delivery)
        archive.decrypts = true
        #expect(throws: ServiceError.self) {
            try Archive(DeliveryPlan(service: RecognitionService(url: ServiceURL(Self.url))))
        }
        let folder = "/tmp/utter-client-\(getpid())-archive"
        let spool = Spool(at: folder, archive: archive)
        let pipeline = try Pipeline(spool: spool)
        defer { pipeline.shutDown() }
        // Nothing waits, and no folder is made to find that out.
        let report = await pipeline.archive(isAsked: true)
        #expect((report.stored, report.waiting) == (0, 0))
        #expect(report.reason == nil)
        #expect(access(folder, F_OK) != 0)
        #expect(throws: TakeStoreError.self) {
            try spool.export(archived: "/tmp/no-such-file", to: folder + ".wav")
        }
    }

    @Test func aTakeIsPlannedStartedAndFollowedToItsOutcome() async throws {
        let pipeline = try Pipeline(spool: nil)
        defer { pipeline.shutDown() }
        var plan = TakePlan(
            source: Silence(), capture: CapturePlan(tail: .none, longest: .seconds(5)),
            delivery: DeliveryPlan(
                service: try service(), format: .flac,
                deadlines: TransferDeadlines(connect: .seconds(60)), retry: .never))
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
                .resumed, .paused, .sent, .paced, .answeredEarly, .resending:
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
        let pipeline = try Pipeline(spool: nil) { question in
            asked.withLock { $0.append(question) }
            throw Locked()
        }
        defer { pipeline.shutDown() }
        let service = try RecognitionService(
            url: ServiceURL(Self.url),
            credential: Credential(askedOf: .command("pass speech"), form: SecretForm("Token {}")))
        let outcome = await pipeline.start(
            TakePlan(source: Silence(), delivery: DeliveryPlan(service: service))
        ).outcome
        #expect(outcome.result == .failure(.secretMissing(reason: "the vault is locked")))
        #expect(outcome.account.capturedFrames == 8_000)
        let question = try #require(asked.withLock { $0.first })
        #expect(question.source == .command("pass speech") && !question.isRefused)
        #expect(question.origin.description == "http://127.0.0.1:9")
    }

    @Test func aDictationTurnsKeysIntoTakes() async throws {
        let pipeline = try Pipeline(spool: nil)
        defer { pipeline.shutDown() }
        let plan = TakePlan(
            source: Silence(),
            capture: CapturePlan(tail: .none, longest: .seconds(60), silence: .seconds(2)),
            delivery: DeliveryPlan(service: try service(), retry: .never))
        let dictation = try Dictation(
            held: .seconds(30), longest: .seconds(60), warning: .seconds(5), isForOne: true,
            listensAgain: false
        ) { number in number == 1 ? pipeline.start(plan) : nil }
        let (takes, states, news) = (dictation.takes, dictation.states, dictation.news)
        let press = ContinuousClock.now
        dictation.handle(.keyDown, at: press)
        let reply = await dictation.reply(to: .keyUp, at: press + .milliseconds(10), onlyFor: 1)
        #expect(reply == .nothing)
        for await take in takes {
            // For any number of listeners, and from the beginning.
            for await _ in take.events {}
            var hasEnded = false
            for await event in take.events { if case .captured = event { hasEnded = true } }
            #expect(hasEnded)
            #expect(await take.outcome.account.capturedFrames == 8_000)
        }
        for await state in states where state.phase == .idle {
            #expect(state.take == nil && !state.isLatched)
            break
        }
        for await said in news {
            #expect(said == .latched)
            break
        }
        #expect(await dictation.reply(to: .toggle) == .nothing)
        dictation.finish()
        dictation.shutDown()
    }

    @Test func aProbeSaysHowLoudASourceIs() async throws {
        let readings = Mutex<[SignalProbe.Reading]>([])
        let report = try await SignalProbe.listen(to: Silence(), for: .seconds(1)) { reading in
            readings.withLock { $0.append(reading) }
        }
        #expect(report.end.cause == .finished && report.end.details == nil)
        #expect(report.length == .milliseconds(500) && report.firstFrame != nil)
        #expect(report.peakDecibels.map { $0 <= -90 } == true)
        #expect(report.floorDecibels.map { $0 <= -90 } == true)
        let last = try #require(readings.withLock { $0.last })
        #expect(last.peakDecibels <= -90 && last.elapsed <= .milliseconds(500))
        #expect(last.state == .good || last.state == .zero)
    }

    @Test func aServiceTakesOverAWholePlan() throws {
        var plan = try Service("openai", format: .flac, token: .variable("T")).delivery
        (plan.retry, plan.framing) = (.never, .length)
        // Of a plan's service alone none can be made: the rest would be lost.
        let take = TakePlan(source: Silence(), service: Service(plan)).delivery
        #expect(Service(plan).profile?.name == "openai" && take.format == .flac)
        #expect(take.retry == .never && take.framing == .length)
    }

    @Test func whatIsKeptIsListedSentAgainCopiedRemovedAndBroughtBack() async throws {
        let root = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(root)/utter-client.XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { _ = system("rm -r '\(folder)'") }
        let limits = SpoolLimits(takes: 100, bytes: 1 << 30, free: 0)
        let spool = Spool(at: folder + "/state", limits: limits)
        let pipeline = try Pipeline(spool: spool)
        defer { pipeline.shutDown() }
        let plan = TakePlan(
            source: Silence(),
            delivery: DeliveryPlan(
                service: try RecognitionService(url: ServiceURL(Self.url)), retry: .never))
        let id = await pipeline.start(plan).outcome.id

        #expect(try spool.recover().isEmpty)
        var kept = try spool.take("last")
        let deadline = ContinuousClock.now + .seconds(60)
        while kept.state != .kept, .now < deadline { kept = try spool.take("last") }
        #expect(kept.id == id && kept.length == .milliseconds(500) && kept.began != nil)
        #expect(kept.isWaiting && !kept.isAbandoned && !kept.mayBeDelivered)
        #expect(kept.transcript == nil && kept.attempts == 1 && kept.audioPath != nil)
        #expect(kept.reason?.hasPrefix("cannot connect to ") == true)
        #expect(kept.service.hasPrefix("http://127.0.0.1:9/v1/recognize"))
        #expect(kept.obstacle() == nil && kept.obstacle(waitingUpTo: .zero) == .old)
        #expect(try spool.takes(where: .due).map(\.id) == [id])

        var samples = try spool.samples(of: kept)
        var (all, some): ([Int16], [Int16]) = ([], [])
        while try samples.next(into: &some) { all += some }
        #expect(all.count == 8_000 && samples.damageReport == nil)
        #expect(try spool.export(kept, to: folder + "/out.flac") == nil)
        #expect(throws: TakeStoreError.self) { try spool.export(kept, to: folder + "/out.mp3") }
        #expect(try spool.reread(kept, by: AnswerRule("text")) == nil)
        try spool.release(kept)

        var again = try DeliveryPlan(of: kept)
        again.retry = .never
        let outcome = try await pipeline.resend(kept, by: again).outcome
        #expect(outcome.id == id && outcome.attempts.map(\.number) == [2])
        let batch = pipeline.resend(try spool.takes(where: .waiting), jobs: 2)
        for await resent in batch {
            switch resent.ending {
            case .outcome(let outcome, let take): #expect(outcome.id == take.id)
            // The take before may still be on its way to the disk.
            case .elsewhere: #expect(resent.kept.id == id)
            case .failed, .skipped, .left: Issue.record("\(resent.ending)")
            }
        }
        batch.leave()

        pipeline.shutDown()
        #expect(try spool.remove(id))
        #expect(try spool.removedTakes().map(\.id) == [id])
        #expect(try spool.undoRemove().id == id)
        #expect(try !spool.remove(id, forGood: true))
        #expect(try spool.takes(where: .all).isEmpty)
    }

    @Test func aServiceIsDescribedByItsProfile() throws {
        let profiles = Profiles.shipped + .folder("/nonexistent")
        #expect(profiles.names.contains("deepgram"))
        let profile = try profiles.profile("deepgram")
        #expect(profile.title.hasPrefix("Deepgram") && profile.name == "deepgram")
        #expect(!profile.isLive && profile.codecs.contains(.flac))
        #expect(try profile.speaking.isLive && profile.speaking.codecs == [.pcm])
        let language = try #require(profile.words.first { $0.name == "language" })
        #expect(!language.isRequired && language.choices.isEmpty)
        #expect([language.standard, language.about].count == 2)
        let service = try Service("deepgram", words: ["language": "en"], format: .flac)
        var plan = TakePlan(source: Silence(), service: service)
        plan.delivery.retry = .never
        #expect(plan.delivery.format == .flac)
        #expect(service.delivery.service.url.description.contains("deepgram"))
        #expect(service.profile?.name == "deepgram")
        #expect(Service(DeliveryPlan(service: try self.service())).profile == nil)
        #expect(profile.tokenSource == .variable("DEEPGRAM_API_KEY"))
        do throws(ProfileError) {
            _ = try Service(profile, words: ["tenant": "x"], token: .file("/run/key"))
            Issue.record("it has no tenant")
        } catch {
            #expect(error.description.hasSuffix(" has no word 'tenant'"))
        }
    }

    @Test func aProgramReadsItsSecretsItself() async throws {
        let reading = SecretSource.file("/nonexistent/key")
        let error = await #expect(throws: ReadingError.self) { try await reading.read() }
        #expect(error?.description.contains("/nonexistent/key") == true)
        let pipeline = try Pipeline(spool: nil) { try await $0.source.read() }
        defer { pipeline.shutDown() }
        let service = try RecognitionService(
            url: ServiceURL(Self.url), credential: Credential(askedOf: reading))
        let outcome = await pipeline.start(
            TakePlan(source: Silence(), service: Service(DeliveryPlan(service: service)))
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

    @Test func allThatAPlanSaysIsPublic() throws {
        var service = try service()
        (service.method, service.contentType, service.detectsEnd) = (.put, "audio/x-wav", true)
        service.body = .json(try JSONTemplate(#"{"audio": "{audio}"}"#))
        var connection = ConnectionSettings()
        (connection.http, connection.addresses) = (HTTPVersion.two, AddressKind.six)
        connection.proxy = try Proxy("http://proxy.example:3128")
        connection.proxyExceptions = ["localhost"]
        connection.proxyLogin = try Credential(place: .proxy, secret: "anna:sesame")
        (connection.certificateFile, connection.clientCertificate) = ("/ca.pem", "/own.pem")
        connection.clientKey = "/own.key"
        connection.resolutions = [try HostResolution("speech.example:443:127.0.0.1")]
        let pin = "sha256//" + String(repeating: "A", count: 43) + "="
        connection.pinnedKeys = [try PinnedKey(pin)]
        service.connection = connection
        service.add(Credential(headerFile: "/run/fields"))
        var plan = DeliveryPlan(service: service, format: .oggOpus)
        plan.redirectOrigins = [try Origin("https://eu.speech.example")]
        (plan.allowsSecretsInClear, plan.idHeader, plan.reportsProgress) = (true, "X-Id", false)
        plan.deadlines = TransferDeadlines(connect: .seconds(5))
        (plan.deadlines.stall, plan.deadlines.answer) = (.seconds(9), .seconds(90))
        plan.retry = RetryPolicy.standard
        (plan.retry.pausesWhileSpeaking, plan.retry.pausesAfterRelease) = ([.seconds(1)], [])
        (plan.retry.longestRetryAfter, plan.retry.unknownOutcome) = (.seconds(30), .ask)
        plan.catchUpRate = CatchUpRate.times(4)
        #expect(plan.service.connection.pinnedKeys.map(\.description) == [pin])
        #expect(plan.service.connection.proxyLogin?.description == "login of the proxy: redacted")
        #expect("\(plan)".contains("sesame") == false)
    }

    @Test func anOutcomeAccountsForEverySample() async throws {
        let key: @Sendable () throws -> EncryptionKey = { try EncryptionKey(secret: Array(1...32)) }
        let retention = Retention(
            answered: .seconds(60), cancelled: .seconds(60), audio: .zero, audioBytes: 0,
            audioTakes: 0)
        let spool = Spool(at: "/dev/null/no-folder", key: key, retention: retention)
        let pipeline = try Pipeline(spool: spool) { _ in throw KeyError.guessable }
        defer { pipeline.shutDown() }
        var plan = TakePlan(
            source: Silence(), delivery: DeliveryPlan(service: try service()))
        plan.delivery.retry = .never
        let take = pipeline.start(plan)
        let outcome = await take.outcome
        #expect(outcome.unprotected?.contains("/dev/null") == true && outcome.audioPath == nil)
        #expect(outcome.cutShort == nil && !outcome.isWhole && !outcome.mayBeDoubled)
        let isToldOfMemory = outcome.notices.contains {
            if case .unprotected = $0 { true } else { false }
        }
        #expect(
            isToldOfMemory && outcome.capture.hasVoice != true && outcome.capture.faults == [.zero])
        let account = outcome.account
        #expect(account.encodedFrames == 8_000 && account.gapFrames == 0)
        #expect(account.encodedBytes >= 16_000 && take.audioExtension == "wav")
        guard case .failure(let failure) = outcome.result else {
            Issue.record("\(outcome.result)")
            return
        }
        #expect(failure.description.hasPrefix("cannot connect to "), "\(failure)")
        #expect(!failure.isForGood && !failure.isUnwanted)
        #expect(outcome.attempts.map(\.result.sentByteCount) == [0])
        pipeline.sweep()
    }

    @Test func aWrongPlanSaysWhy() {
        let error = #expect(throws: ServiceError.self) { try ServiceURL("ftp://a/") }
        #expect(error?.description.isEmpty == false)
    }
}
