// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization

/// A session of OpenAI's realtime transcription; over a Unix socket, of the recognisers of a desktop.
///
/// The sound between two commits of a client is one utterance, which is recognised while it comes. One task
/// takes the messages in, and one for each utterance tells its text; utterances may end in another
/// order than they began in, as far as there are recognisers.
struct RealtimeSession {
    private struct Utterance {
        let job: RecognitionJob
        let item: String
        var byteCount = 0
    }

    private let writer: RealtimeWriter
    private let connection: Connection
    private let pool: RecogniserPool
    private let configuration: RecognitionEndpointConfiguration
    private let counts: RealtimeCounts
    private var rate: Int
    private var hints = SpeechHints()
    private var utterance: Utterance?
    private var (itemCount, lastItem) = (0, String?.none)

    private var isLocal: Bool { connection.isLocal }

    /// OpenAI's rate, and that of the desktop; in Hz.
    private static let (usualRate, usualLocalRate) = (24_000, 16_000)

    init(
        _ writer: MessageSender, _ connection: Connection, _ pool: RecogniserPool,
        _ configuration: RecognitionEndpointConfiguration, _ counts: RealtimeCounts
    ) {
        (self.connection, self.pool, self.counts) = (connection, pool, counts)
        self.writer = RealtimeWriter(writer: writer, isLocal: connection.isLocal, counts: counts)
        self.configuration = configuration
        rate = connection.isLocal ? Self.usualLocalRate : Self.usualRate
    }

    /// Takes messages until the client has no more; those that it has committed get their texts then.
    @concurrent mutating func run(_ messages: inout ClientMessages) async throws -> SocketClose {
        try await tellSession("session.created")
        try await writer.tell(state: "ready")
        return try await withThrowingDiscardingTaskGroup { group in
            let close: SocketClose
            do {
                close = try await take(&messages, &group)
            } catch let error as SocketClose {
                close = error
            } catch {
                utterance?.job.fail(.brokenOff)
                throw error
            }
            utterance?.job.fail(close.code == Self.leaving.code ? .shuttingDown : .brokenOff)
            // A client that has ended the session, or broken its rules, waits for no text.
            if !Self.ownEnds.contains(close.code) { group.cancelAll() }
            return close
        }
    }

    private static let leaving = SocketClose(code: 1001, reason: "the endpoint is shutting down")
    /// The codes with which the endpoint ends a session for reasons of its own.
    private static let ownEnds: [UInt16] = [leaving.code, 1011, 1013]

    @concurrent private mutating func take(
        _ messages: inout ClientMessages, _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws -> SocketClose {
        while true {
            let alarm = utterance.map { utterance in
                let time = configuration.idleTimeout
                return connection.schedule(in: time) { [job = utterance.job] in
                    job.fail(.stalled(time))
                }
            }
            defer { alarm?.cancel() }
            guard let message = try await messages.next() else {
                return Task.isShuttingDownGracefully ? Self.leaving : SocketClose()
            }
            switch message {
            case .binary(let bytes): try await append(bytes, &group)
            case .text(let text): try await take(text, &group)
            }
        }
    }

    @concurrent private mutating func take(
        _ text: String, _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws {
        // The client is told of any mistake in the same words.
        guard let command = try? RealtimeCommand(parsing: text) else {
            return try await refuse("invalid_json", "the message is not one of JSON with a 'type'")
        }
        switch command.type {
        case "session.update": try await update(command)
        case "input_audio_buffer.append":
            guard let samples = command.samples else {
                return try await refuse(
                    "invalid_parameter", "'audio' is not base64", "audio", command)
            }
            try await append(samples, &group)
        case "input_audio_buffer.commit": try await commit(command)
        case "input_audio_buffer.clear":
            utterance?.job.fail(.brokenOff)
            utterance = nil
            try await writer.tell(RealtimeEvent("input_audio_buffer.cleared"))
        // The sides of a desktop's recogniser pass over what they do not know.
        case _ where isLocal: break
        case let type:
            try await refuse(
                "unknown_parameter",
                "'\(type.prefix(100))' is not a message of transcription sessions", "type", command)
        }
    }

    // MARK: - Settings

    @concurrent private mutating func update(_ command: RealtimeCommand) async throws {
        let input = command.session?.audio?.input
        let format = input?.format
        guard format?.type ?? "audio/pcm" == "audio/pcm" else {
            return try await refuse(
                "invalid_parameter", "the sound is audio/pcm, 16 bits, one channel",
                "session.audio.input.format.type", command)
        }
        guard (8_000...96_000).contains(format?.rate ?? rate) else {
            return try await refuse(
                "invalid_parameter", "the rate is from 8000 to 96000",
                "session.audio.input.format.rate", command)
        }
        guard input?.turnDetection == nil else {
            return try await refuse(
                "invalid_parameter",
                "turns are not detected here; end one with input_audio_buffer.commit",
                "session.audio.input.turn_detection", command)
        }
        // OpenAI's clients name a model of OpenAI's also to other services.
        if isLocal, let model = input?.transcription?.model, model != pool.name {
            let message = "the model here is '\(pool.name)'"
            try await refuse(
                "invalid_parameter", message, "session.audio.input.transcription.model", command)
            throw SocketClose(code: 1008, reason: message)
        }
        rate = format?.rate ?? rate
        hints = SpeechHints(
            language: input?.transcription?.language, prompt: input?.transcription?.prompt
        ).over(hints)
        try await tellSession("session.updated")
    }

    @concurrent private func tellSession(_ type: String) async throws {
        typealias Session = RealtimeEvent.Session
        var event = RealtimeEvent(type)
        event.session = Session(
            id: "session_\(ObjectIdentifier(counts).hashValue.magnitude)",
            type: isLocal ? "realtime" : "transcription",
            audio: Session.Audio(
                input: Session.Input(
                    format: Session.Input.Format(rate: rate),
                    transcription: Session.Input.Transcription(
                        model: pool.name, language: hints.language, prompt: hints.prompt))))
        event.protocolVersion = isLocal ? 1 : nil
        try await writer.tell(event)
    }

    @concurrent private func refuse(
        _ code: String, _ message: String, _ parameter: String? = nil,
        _ command: RealtimeCommand? = nil
    ) async throws {
        var event = RealtimeEvent("error")
        event.error = RealtimeEvent.Failure(
            code: code, message: message, param: parameter, eventID: command?.eventID)
        try await writer.tell(event)
    }

    // MARK: - Utterances

    @concurrent private mutating func append(
        _ bytes: [UInt8], _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws {
        guard !bytes.isEmpty else { return }
        if utterance == nil { try await begin(&group) }
        guard let job = utterance?.job else { return }
        counts.note(byteCount: bytes.count)
        utterance?.byteCount += bytes.count
        guard utterance?.byteCount ?? 0 <= configuration.maximumBodyByteCount else {
            return job.fail(.tooLarge(limit: configuration.maximumBodyByteCount))
        }
        await job.body.append(bytes)
    }

    @concurrent private mutating func begin(
        _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws {
        let job: RecognitionJob
        do {
            job = try await RecognitionJob.make(
                .pcm(StreamFormat(sampleRate: rate, channelCount: 1), isBigEndian: false), hints,
                configuration)
        } catch {
            throw SocketClose(code: 1011, reason: BodyFile.reason(error))
        }
        guard pool.submit(job) else {
            // RFC 6455 has no code for it, and the registry of codes has this one.
            throw SocketClose(code: 1013, reason: BodyFailure.noRecogniser.description)
        }
        itemCount += 1
        let item = "item_\(itemCount)"
        utterance = Utterance(job: job, item: item)
        group.addTask { [writer] in
            do {
                try await withTaskCancellationHandler {
                    try await writer.tell(job, as: item)
                } onCancel: {
                    job.fail(.brokenOff)
                }
            } catch is CancellationError {
                // The session ends, and has its own word for that.
            }
        }
    }

    @concurrent private mutating func commit(_ command: RealtimeCommand) async throws {
        guard let committed = utterance.take() else {
            return try await refuse(
                "input_audio_buffer_commit_empty", "there is no sound to be committed", nil,
                command)
        }
        var event = RealtimeEvent("input_audio_buffer.committed")
        (event.itemID, event.previousItemID) = (committed.item, lastItem)
        lastItem = committed.item
        try await writer.tell(event)
        committed.job.body.finish()
    }
}

/// Tells a client what is heard.
private struct RealtimeWriter: Sendable {
    let writer: MessageSender
    let isLocal: Bool
    let counts: RealtimeCounts

    @concurrent func tell(_ event: RealtimeEvent) async throws {
        var event = event
        event.eventID = "event_\(counts.nextEvent())"
        try await writer.send(String(AnswerLine.json(event).dropLast()))
    }

    /// How a recogniser of a desktop fares; other clients do not know the message.
    @concurrent func tell(state: String, snippet: String? = nil) async throws {
        guard isLocal else { return }
        var event = RealtimeEvent("STATUS")
        (event.state, event.snippet) = (state, snippet)
        try await tell(event)
    }

    /// Tells the text of an utterance until it is known, or cannot be.
    @concurrent func tell(_ job: RecognitionJob, as item: String) async throws {
        var told = ToldText()
        while true {
            switch await job.events.next() {
            case .stored, .appended, .refused: continue
            case .partial(let partial):
                try await tell(told.news(in: partial.settled), of: item)
                let rest = partial.text.dropFirst(partial.settled.count).drop(while: \.isWhitespace)
                try await tell(state: "transcribing", snippet: String(rest))
            case .final(let recognition):
                counts.note(duration: recognition.duration)
                try await tell(told.news(in: recognition.text), of: item)
                var event = RealtimeEvent.transcription("completed", of: item)
                event.transcript = recognition.text
                event.words = recognition.roundedWords
                event.usage = RealtimeEvent.Usage(seconds: recognition.duration)
                try await tell(event)
                return try await tell(state: "ready")
            // It was cleared, or the client has gone.
            case .failed(.brokenOff): return
            case .failed(let failure):
                var event = RealtimeEvent.transcription("failed", of: item)
                event.error = RealtimeEvent.Failure(
                    type: failure.status < 500 ? "invalid_request_error" : "server_error",
                    code: failure.status < 500 ? "invalid_parameter" : "server_error",
                    message: failure.description)
                return try await tell(event)
            }
        }
    }

    @concurrent private func tell(_ news: String, of item: String) async throws {
        guard !news.isEmpty else { return }
        var event = RealtimeEvent.transcription("delta", of: item)
        event.delta = news
        event.disposition = isLocal ? "committed" : nil
        try await tell(event)
    }
}

/// The numbers of one session, for the log.
final class RealtimeCounts: Sendable {
    private struct State {
        var (events, bytes, duration) = (0, 0, 0.0)
    }

    private let state = Mutex(State())

    func nextEvent() -> Int {
        state.withLock { state in
            state.events += 1
            return state.events
        }
    }

    func note(byteCount: Int) { state.withLock { $0.bytes += byteCount } }

    func note(duration: Double) { state.withLock { $0.duration += duration } }

    var byteCount: Int { state.withLock(\.bytes) }
    var duration: Double { state.withLock(\.duration) }
}
