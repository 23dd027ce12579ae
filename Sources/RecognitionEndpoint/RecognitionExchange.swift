// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// One request and its answer.
///
/// Two tasks work at a recognition: one takes the body in and hands it to the recogniser's
/// thread, the other one writes what that thread says. So the answer runs while the body comes.
/// The answer's head is held back until there is something to say, so that a body that turns
/// out to be no audio gets its proper status.
struct RecognitionExchange: Sendable {
    private let configuration: RecognitionEndpointConfiguration
    private let pool: RecogniserPool
    private let request: Request
    private let connection: Connection

    /// Prepares the answer to a request.
    init(
        _ request: Request, on connection: Connection, pool: RecogniserPool,
        configuration: RecognitionEndpointConfiguration
    ) {
        self.configuration = configuration
        self.pool = pool
        self.request = request
        self.connection = connection
    }

    /// Answers.
    ///
    /// - Throws: any error, when the connection must be closed.
    @concurrent func answer(_ writer: consuming ResponseWriter) async throws {
        let demand: Demand
        do {
            demand = try Demand(request.head, configuration: configuration)
        } catch {
            return try await refuse(error, writer)
        }
        switch demand {
        case .health:
            try await answerHealth(writer)
        case .recognition(_, _, let plan) where plan.endsInAnswer:
            try await MisbehavingExchange(request, plan: plan, on: connection).answer(writer)
        case .recognition(let mediaType, let format, let plan):
            try await answerRecognition(mediaType, format, plan, writer)
        }
    }

    @concurrent private func answerHealth(_ writer: consuming ResponseWriter) async throws {
        let text =
            "{\"status\":\"ok\",\"recognitions\":{\"running\":\(pool.busyCount),"
            + "\"maximum\":\(configuration.maximumConcurrentRecognitions)}}\n"
        let head = HTTPResponse.make(200, "application/json", byteCount: text.utf8.count)
        let isHead = request.method == .head
        let body = isHead ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(string: text))
        try await writer.write(response: head, body: body)
    }

    /// Answers before anything of the body was read.
    @concurrent private func refuse(
        _ refusal: Refusal, _ writer: consuming ResponseWriter
    ) async throws {
        let hasBody =
            request.headers[.transferEncoding] != nil
            || request.headers[.contentLength].map { $0 != "0" } == true
        try await writer.refuse(refusal, closes: hasBody)
        guard hasBody else { return }
        let deadline = await connection.linger()
        defer { deadline.cancel() }
        for try await _ in request.body {}
        throw Connection.End()
    }

    // MARK: - Recognition

    @concurrent private func answerRecognition(
        _ mediaType: AudioMediaType, _ format: AnswerFormat, _ plan: FaultPlan,
        _ writer: consuming ResponseWriter
    ) async throws {
        let job: RecognitionJob
        do {
            job = try await begin(mediaType)
        } catch {
            return try await refuse(error, writer)
        }
        let upload = BodyUpload(
            job.body, plan: plan, limit: configuration.maximumBodyByteCount, on: connection)
        async let uploaded: Void = upload.take(request.body)
        var answer = StreamedAnswer(writer, format: format, delay: plan.delay)
        while true {
            switch await job.events.next() {
            case .partial(let partial):
                try await answer.write(partial)
            case .final(let recognition) where plan.truncatesAnswer:
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
                try await answer.fail(failure)
                let deadline = await connection.linger()
                defer { deadline.cancel() }
                // The answer has gone out, so an error cannot be answered any more.
                try? await uploaded
                throw Connection.End()
            }
        }
    }

    /// Puts a recogniser to work.
    @concurrent private func begin(
        _ mediaType: AudioMediaType
    ) async throws(Refusal) -> RecognitionJob {
        let isBegun: Bool
        let job: RecognitionJob
        do {
            job = try RecognitionJob(mediaType)
            isBegun = try await pool.begin(job)
        } catch let error as RecognitionEndpointError {
            throw Refusal(500, error.description)
        } catch {
            throw Refusal(500, "too many files are open")
        }
        guard isBegun else { throw .busy }
        return job
    }
}
