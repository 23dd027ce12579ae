// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// A request and its answer.
///
/// Two tasks work at a recognition: one takes the body in and hands it to the recogniser's
/// thread, the other one writes what that thread says. So the answer runs while the body comes.
/// The answer's head is held back until there is something to say, so that a body that turns
/// out to be no audio gets its proper status.
struct RecognitionExchange: Sendable {
    let request: Request
    let connection: Connection
    let pool: RecogniserPool
    let ledger: AnswerLedger
    let shelf: UploadShelf?
    let realtime: RealtimeDesk
    let configuration: RecognitionEndpointConfiguration

    @concurrent func answer(_ writer: consuming ResponseWriter) async throws {
        await shelf?.sweep()
        let demand: Demand
        do {
            demand = try Demand(
                request.head, configuration: configuration, isLocal: connection.isLocal)
        } catch {
            return try await refuse(error, writer)
        }
        switch demand {
        case .health:
            try await answer(AnswerLine(status: "ok", recognitions: load), writer)
        case .models(let name):
            let model = AnswerLine.Model(id: pool.name, created: pool.created)
            guard name ?? model.id == model.id else {
                return try await refuse(Refusal(404, "there is no such model"), writer)
            }
            try await name == nil
                ? answer(AnswerLine(object: "list", data: [model]), writer) : answer(model, writer)
        // A client that opens a WebSocket has left HTTP.
        case .realtime(let ticket):
            try await refuse(realtime.refusal(of: ticket), writer)
        case .page(let file):
            let bytes = request.method == .head ? [] : file.bytes
            try await writer.write(
                response: file.head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        case .ticket:
            try await answer(PageAnswer(ticket: configuration.page?.makeTicket()), writer)
        case .served:
            let requests = configuration.page?.served.map(PageAnswer.Served.init)
            try await answer(PageAnswer(requests: requests, load: load), writer)
        case .options:
            try await writer.writeResponse(UploadHead.options(configuration))
        case .newUpload(let head, let manifest, let plan):
            try await upload(head, plan)?.create(manifest, writer)
        case .upload(let name, let head, let plan):
            try await upload(head, plan)?.answer(name, writer)
        case .recognition(let asked):
            if case .answer(let status) = asked.plan.action {
                return try await misbehave(status, asked.plan, writer)
            }
            let job: RecognitionJob
            do {
                job = try await RecognitionJob.make(asked.mediaType, asked.hints, configuration)
            } catch {
                return try await refuse(
                    Refusal(503, BodyFile.reason(error), fields: [.retryAfter: "60"]), writer)
            }
            guard let key = asked.claim.key else {
                return try await answerRecognition(job, asked, nil, writer)
            }
            switch ledger.admit(key, giveUp: { job.fail(.superseded) }) {
            case .known: try await answerAgain(key, asked, writer)
            case .new(let ticket):
                defer { ledger.abandon(ticket) }
                try await answerRecognition(job, asked, ticket, writer)
            }
        }
    }

    private var load: AnswerLine.Load {
        AnswerLine.Load(
            running: pool.busyCount, maximum: configuration.maximumConcurrentRecognitions)
    }

    @concurrent private func answer(
        _ value: some Encodable & Sendable, _ writer: consuming ResponseWriter
    ) async throws {
        let text = AnswerLine.json(value)
        let head = HTTPResponse.make(200, "application/json", byteCount: text.utf8.count)
        let isHead = request.method == .head
        let body = isHead ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(string: text))
        try await writer.write(response: head, body: body)
    }

    @concurrent private func refuse(
        _ refusal: Refusal, _ writer: consuming ResponseWriter
    ) async throws {
        try await connection.refuse(refusal, request, writer)
    }

    private func upload(_ head: UploadHead, _ plan: FaultPlan) -> ResumableExchange? {
        shelf.map {
            ResumableExchange(
                request: request, connection: connection, shelf: $0, configuration: configuration,
                head: head, plan: plan)
        }
    }

    // MARK: - Recognition

    @concurrent private func answerRecognition(
        _ job: RecognitionJob, _ asked: Demand.Asked, _ ticket: AnswerLedger.Ticket?,
        _ writer: consuming ResponseWriter
    ) async throws {
        shelf?.makeRoom()
        guard pool.submit(job) else { return try await refuse(Refusal(.noRecogniser), writer) }
        // With a key, the same client may ask again.
        if ticket == nil { connection.whenGone { [weak job] in job?.fail(.brokenOff) } }
        try await writer.inviteBody(of: request)
        let upload = BodyUpload(
            job: job, plan: asked.plan, configuration: configuration, connection: connection
        ) { [ledger] body in
            guard body.agrees(with: asked.claim.digest) else { return .digestMismatch }
            guard let ticket else { return nil }
            return ledger.complete(ticket, body) ? nil : .superseded
        }
        async let uploaded: Void = upload.take(request.body)
        var answer = StreamedAnswer(writer, format: asked.format)
        while true {
            let event = await job.events.next()
            if case .final(let recognition) = event {
                // Before it is sent: a client that does not get it asks again.
                if let ticket { ledger.commit(ticket, recognition) }
                connection.noteHeard(recognition.duration)
            }
            switch event {
            case .stored, .appended, .refused:
                // These are an upload's.
                continue
            case .partial(let partial):
                try await answer.write(partial)
            case .final(let recognition) where asked.plan.truncatesAnswer:
                try await answer.breakOff(recognition)
                throw Connection.End()
            case .final(let recognition):
                try await answer.finish(recognition)
                return try await uploaded
            case .failed(.brokenOff) where !answer.hasBegun:
                // For what is not HTTP, the server has an answer of its own.
                try await uploaded
                throw Connection.End()
            case .failed(let failure):
                try await answer.fail(Refusal(failure))
                let deadline = await connection.linger()
                defer { deadline.cancel() }
                // The answer has gone out, so an error cannot be answered any more.
                try? await uploaded
                throw Connection.End()
            }
        }
    }

    // MARK: - The same recording again

    /// Takes the body in, and answers with what the same one has been answered with before.
    @concurrent private func answerAgain(
        _ key: String, _ asked: Demand.Asked, _ writer: consuming ResponseWriter
    ) async throws {
        try await writer.inviteBody(of: request)
        var body = BodyIdentity()
        let limit = configuration.maximumBodyByteCount
        for try await buffer in request.body {
            body.add(Array(buffer.readableBytesView).span)
            guard body.byteCount <= limit else {
                try await writer.refuse(Refusal(.tooLarge(limit: limit)), closes: true)
                await connection.linger().cancel()
                throw Connection.End()
            }
        }
        // A cancelled body ends as if it were whole.
        try Task.checkCancellation()
        guard body.agrees(with: asked.claim.digest) else {
            return try await writer.refuse(Refusal(.digestMismatch), closes: false)
        }
        switch await ledger.verdict(key, body) {
        case .replay(let recognition):
            connection.noteHeard(recognition.duration)
            var answer = StreamedAnswer(
                writer, format: asked.format,
                fields: HTTPFields(named: [("Idempotent-Replayed", "true")])
            )
            try await answer.finish(recognition)
        case .conflict: try await writer.refuse(Refusal(.otherRecording), closes: false)
        case .gone: try await writer.refuse(.firstFailed, closes: false)
        }
    }
}
