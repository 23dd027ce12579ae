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
    private let name = "session_" + String(UInt64.random(in: .min ... .max), radix: 16)
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
        while let message = try await next(of: &messages) {
            switch message {
            case .binary(let bytes): try await append(bytes, &group)
            case .text(let text): try await take(text, &group)
            }
        }
        return Task.isShuttingDownGracefully ? Self.leaving : SocketClose()
    }

    /// The next message; the utterance fails that waits for it too long, and the session ends in which
    /// nothing is said for an hour.
    @concurrent private func next(of messages: inout ClientMessages) async throws -> ClientMessage?
    {
        let time = utterance == nil ? configuration.longestSilence : configuration.idleTimeout
        let alarm = connection.schedule(in: time) { [utterance, connection] in
            guard let utterance else { return connection.hearNoMore() }
            utterance.job.fail(.stalled(time))
        }
        defer { alarm.cancel() }
        return try await messages.next()
    }

    @concurrent private mutating func take(
        _ text: String, _ group: inout ThrowingDiscardingTaskGroup<any Error>
    ) async throws {
        // The client gets one answer to all mistakes.
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
            try await writer.tell("input_audio_buffer.cleared")
        // Both sides of a desktop's recogniser ignore messages that they do not know.
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
        let transcription: JSONNode = [
            "model": .text(pool.name), "language": hints.language.map(JSONNode.text),
            "prompt": hints.prompt.map(JSONNode.text),
        ]
        let input: JSONNode = [
            "format": ["type": "audio/pcm", "rate": .number(Double(rate))],
            "transcription": transcription,
            // An utterance ends where the client says so.
            "turn_detection": .null,
        ]
        try await writer.tell(
            type,
            [
                "session": [
                    "id": .text(name), "object": "realtime.transcription_session",
                    "type": isLocal ? "realtime" : "transcription", "audio": ["input": input],
                ], "protocol_version": isLocal ? 1 : nil,
            ])
    }

    @concurrent private func refuse(
        _ code: String, _ message: String, _ parameter: String? = nil,
        _ command: RealtimeCommand? = nil
    ) async throws {
        try await writer.tell(
            "error",
            [
                "error": [
                    "type": "invalid_request_error", "code": .text(code), "message": .text(message),
                    "param": parameter.map(JSONNode.text),
                    "event_id": command?.eventID.map(JSONNode.text),
                ]
            ])
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
            // 1013, "try again later", is registered beside the codes of RFC 6455.
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
                // The session has ended, and its close frame says why.
            }
        }
    }

    @concurrent private mutating func commit(_ command: RealtimeCommand) async throws {
        guard let committed = utterance.take() else {
            return try await refuse(
                "input_audio_buffer_commit_empty", "there is no sound to be committed", nil,
                command)
        }
        try await writer.tell(
            "input_audio_buffer.committed",
            [
                "item_id": .text(committed.item),
                "previous_item_id": lastItem.map(JSONNode.text),
            ])
        lastItem = committed.item
        committed.job.body.finish()
    }
}

/// Tells a client what is heard.
private struct RealtimeWriter: Sendable {
    let writer: MessageSender
    let isLocal: Bool
    let counts: RealtimeCounts

    @concurrent func tell(_ type: String, _ members: [String: JSONNode?] = [:]) async throws {
        var event = members.compactMapValues(\.self)
        event["type"] = .text(type)
        event["event_id"] = .text("event_\(counts.nextEvent())")
        try await writer.send(String(AnswerLine.json(event).dropLast()))
    }

    @concurrent private func tell(
        _ kind: String, of item: String, _ members: [String: JSONNode?]
    ) async throws {
        try await tell(
            "conversation.item.input_audio_transcription.\(kind)",
            members.merging(["item_id": .text(item), "content_index": 0]) { own, _ in own })
    }

    /// How a recogniser of a desktop fares; other clients do not know the message.
    @concurrent func tell(state: String, snippet: String? = nil) async throws {
        guard isLocal else { return }
        try await tell(
            "STATUS", ["state": .text(state), "snippet": snippet.map(JSONNode.text)])
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
                try await tell(
                    "completed", of: item,
                    [
                        "transcript": .text(recognition.text),
                        "words": .words(recognition.roundedWords),
                        "usage": ["type": "duration", "seconds": .number(recognition.duration)],
                    ])
                return try await tell(state: "ready")
            // It was cleared, or the client has gone.
            case .failed(.brokenOff): return
            case .failed(let failure):
                let isOfClient = failure.status < 500
                return try await tell(
                    "failed", of: item,
                    [
                        "error": [
                            "type": isOfClient ? "invalid_request_error" : "server_error",
                            "code": isOfClient ? "invalid_parameter" : "server_error",
                            "message": .text(failure.description),
                        ]
                    ])
            }
        }
    }

    @concurrent private func tell(_ news: String, of item: String) async throws {
        guard !news.isEmpty else { return }
        try await tell(
            "delta", of: item,
            ["delta": .text(news), "disposition": isLocal ? "committed" : nil])
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
