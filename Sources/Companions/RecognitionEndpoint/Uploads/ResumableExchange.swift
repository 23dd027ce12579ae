// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// A request that creates, continues, asks about or cancels an upload, and its answer.
///
/// Two tasks work at a request with a body: one stores what comes, the other one writes what it
/// and the recogniser say. An interim response cannot follow the answer's head: a request whose
/// answer streams partial texts hears of durable bytes until the first one.
struct ResumableExchange: Sendable {
    let request: Request
    let connection: Connection
    let shelf: UploadShelf
    let configuration: RecognitionEndpointConfiguration
    let head: UploadHead
    let plan: FaultPlan

    @concurrent func create(
        _ draft: UploadManifest, _ writer: consuming ResponseWriter
    ) async throws {
        let upload: Upload
        do {
            upload = try await shelf.create(try complete(draft))
        } catch {
            return try await refuse(error, writer)
        }
        guard let holder = await upload.hold(connection) else {
            return try await refuse(.noUpload, writer)
        }
        defer { upload.release(patience: shelf.patience) }
        if head.version != nil {
            var fields = fields(upload, offset: nil)
            fields[.location] = UploadHead.root + upload.name
            try await writer.writeInformationalHead(interim(fields))
        }
        try await writer.inviteBody(of: request)
        try await take(upload, holder, isNew: true, writer)
    }

    private func complete(_ draft: UploadManifest) throws(Refusal) -> UploadManifest {
        var manifest = draft
        manifest.peer = connection.peer
        let lifetime = Int(configuration.uploadLifetime.components.seconds)
        manifest.expiry = configuration.now() + lifetime
        manifest.length = try length(known: nil)
        if head.isTus, manifest.length == nil, request.headers[named: "Upload-Defer-Length"] != "1"
        {
            throw Refusal(400, "Upload-Length is missing, or Upload-Defer-Length: 1")
        }
        return manifest
    }

    private func length(known: Int?) throws(Refusal) -> Int? {
        let length = try head.statedLength(known: known)
        let limit = configuration.maximumBodyByteCount
        guard length ?? 0 <= limit else { throw Refusal(.tooLarge(limit: limit)) }
        return length
    }

    @concurrent func answer(_ name: String, _ writer: consuming ResponseWriter) async throws {
        guard let upload = shelf.find(name) else { return try await refuse(.noUpload, writer) }
        do {
            try checkMethod()
        } catch {
            return try await refuse(error, writer)
        }
        guard let holder = await upload.hold(connection) else {
            let isThere = shelf.find(name) != nil
            return try await refuse(isThere ? Refusal(.superseded) : .noUpload, writer)
        }
        defer { upload.release(patience: shelf.patience) }
        if request.method == .delete {
            await shelf.remove(upload)
            return try await writer.writeResponse(HTTPResponse(status: .noContent))
        }
        let offset: Int
        do throws(Refusal) {
            offset = try await upload.sync()
            if request.method == .patch { try await checkAppend(to: upload, at: offset) }
        } catch {
            return try await refuse(error, writer)
        }
        guard request.method == .patch else { return try await tell(upload, offset, writer) }
        try await writer.inviteBody(of: request)
        try await take(upload, holder, isNew: false, writer)
    }

    private func checkMethod() throws(Refusal) {
        switch request.method {
        case .head, .get, .delete: return
        case .patch: break
        default:
            throw Refusal(405, "use PATCH", fields: [.allow: "HEAD, GET, PATCH, DELETE, OPTIONS"])
        }
        let wanted = head.isTus ? "application/offset+octet-stream" : "application/partial-upload"
        guard request.headers[.contentType]?.prefix(while: { $0 != ";" }).lowercased() == wanted
        else { throw Refusal(415, "more of an upload is \(wanted)") }
        guard head.offset != nil else { throw Refusal(400, "Upload-Offset is missing") }
        guard head.isTus || head.completes != nil else {
            throw Refusal(400, "Upload-Complete is missing")
        }
    }

    @concurrent private func checkAppend(to upload: Upload, at offset: Int) async throws(Refusal) {
        guard let provided = head.offset, provided == offset else {
            throw .otherOffset(offset, provided: head.offset ?? 0)
        }
        let manifest = upload.manifest
        if manifest.isWhole, head.completes == false { throw .isWhole }
        guard let length = try length(known: manifest.length) else { return }
        try await shelf.setLength(length, of: upload)
    }

    @concurrent private func tell(
        _ upload: Upload, _ offset: Int, _ writer: consuming ResponseWriter
    ) async throws {
        let manifest = upload.manifest
        var fields = fields(upload, offset: offset, isComplete: manifest.answer != nil)
        fields[named: "Upload-Length"] = manifest.length.map(String.init)
        if head.isTus, manifest.length == nil { fields[named: "Upload-Defer-Length"] = "1" }
        fields[.cacheControl] = "no-store"
        try await writer.writeResponse(HTTPResponse(status: .noContent, headerFields: fields))
    }

    @concurrent private func refuse(
        _ refusal: Refusal, _ writer: consuming ResponseWriter
    ) async throws {
        try await connection.refuse(marked(refusal), request, writer)
    }

    private func marked(_ refusal: Refusal, isComplete: Bool = false) -> Refusal {
        var refusal = refusal
        if head.isTus {
            refusal.fields[named: "Tus-Resumable"] = UploadHead.tusVersion
        } else {
            refusal.fields[named: "Upload-Complete"] = isComplete ? "?1" : "?0"
        }
        return refusal
    }

    // MARK: - A body

    @concurrent private func take(
        _ upload: Upload, _ holder: Upload.Holder, isNew: Bool,
        _ writer: consuming ResponseWriter
    ) async throws {
        async let stored = store(upload, holder)
        var answer = StreamedAnswer(
            writer, format: upload.manifest.format,
            fields: head.isTus ? [:] : HTTPFields(named: [("Upload-Complete", "?1")]))
        let place = isNew ? UploadHead.root + upload.name : nil
        let refusal: Refusal
        events: while true {
            switch await next(holder.events) {
            case .stored(let count):
                guard head.version != nil else { continue }
                let fields = HTTPFields(named: [("Upload-Offset", "\(count)")])
                try await answer.inform(interim(fields))
            case .partial(let partial):
                // The answer of tus names the offset, which is known at the end.
                if head.completes == true { try await answer.write(partial) }
            case .final(let recognition) where plan.truncatesAnswer:
                try await answer.breakOff(recognition)
                _ = await stored
                throw Connection.End()
            case .final(let recognition):
                connection.noteHeard(recognition.duration)
                if head.isTus {
                    answer.fields = fields(upload, offset: upload.byteCount)
                    answer.fields[.location] = place
                    answer.status = isNew ? 201 : 200
                }
                try await answer.finish(recognition)
                if let error = await stored { throw error }
                return
            case .appended(let offset):
                var response = HTTPResponse(status: isNew ? .created : .noContent)
                response.headerFields = fields(upload, offset: offset)
                response.headerFields[.location] = place
                if isNew { response.headerFields[.contentLength] = "0" }
                _ = await stored
                return try await answer.acknowledge(response)
            case .failed(.brokenOff), .failed(.superseded):
                // The connection is gone; for what is not HTTP, the server has an answer of its own.
                if let error = await stored { throw error }
                throw Connection.End()
            case .failed(let failure):
                refusal = marked(Refusal(failure), isComplete: failure.isOfRecording)
                break events
            case .refused(let told):
                refusal = marked(told)
                break events
            }
        }
        try await answer.fail(refusal)
        let deadline = await connection.linger()
        _ = await stored
        deadline.cancel()
        throw Connection.End()
    }

    private func next(_ events: RecognitionEvents) async -> RecognitionEvents.Event {
        await withTaskCancellationHandler {
            await events.next()
        } onCancel: {
            events.post(.failed(.shuttingDown))
        }
    }

    /// Stores the body, and posts what becomes of it; returns why it has no end, if so.
    @concurrent private func store(
        _ upload: Upload, _ holder: Upload.Holder
    ) async -> (any Error)? {
        do {
            let isWhole = upload.manifest.isWhole
            if !isWhole {
                shelf.feed(upload)
                upload.follow(holder)
            }
            guard try await receive(upload, holder.events, isWhole: isWhole) else { return nil }
            // A cancelled body ends as if it were whole, and so does one that was taken over.
            try Task.checkCancellation()
            if upload.isAskedFor { throw Connection.End() }
            try await finish(upload, holder, isWhole: isWhole)
            return nil
        } catch let refusal as Refusal {
            holder.events.post(.refused(refusal))
            return nil
        } catch {
            holder.events.post(.failed(Task.isCancelled ? .shuttingDown : .brokenOff))
            return error
        }
    }

    /// Takes the body until its end, even when it is not wanted; true when all of it was stored.
    @concurrent private func receive(
        _ upload: Upload, _ events: RecognitionEvents, isWhole: Bool
    ) async throws -> Bool {
        var iterator = request.body.makeAsyncIterator()
        var count = 0
        var isRefused = false
        var report = ContinuousClock.now + configuration.uploadReportInterval
        let time = configuration.idleTimeout
        let alarm: @Sendable () -> Void = { events.post(.failed(.stalled(time))) }
        while let buffer = try await connection.next(of: &iterator, within: time, alarm) {
            guard !isRefused else { continue }
            let bytes = Array(buffer.readableBytesView.prefix(plan.byteCount(after: count)))
            do {
                guard !isWhole else { throw Refusal.isWhole }
                try await shelf.append(bytes, to: upload)
                count += bytes.count
                if plan.byteCount(after: count) == 0 { try await misbehave() }
                if report <= .now {
                    events.post(.stored(try await upload.sync()))
                    report = .now + configuration.uploadReportInterval
                }
            } catch let refusal as Refusal {
                isRefused = true
                events.post(.refused(refusal))
            }
        }
        if !isRefused, plan.byteCount(after: count) < .max { try await misbehave() }
        return !isRefused
    }

    @concurrent private func misbehave() async throws {
        if case .answer(let status) = plan.action {
            throw Refusal(status, "X-Misbehave asked for status \(status)")
        }
        await connection.close()
        throw Connection.End()
    }

    @concurrent private func finish(
        _ upload: Upload, _ holder: Upload.Holder, isWhole: Bool
    ) async throws {
        let count = try await upload.sync()
        let length = upload.manifest.length
        guard head.completes ?? (length == count) else {
            return holder.events.post(.appended(count))
        }
        guard length ?? count == count else { throw Refusal.inconsistentLength }
        if isWhole {
            shelf.feed(upload)
            upload.follow(holder)
        } else {
            try await shelf.complete(upload)
        }
    }

    // MARK: - Heads

    private func interim(_ fields: HTTPFields) -> HTTPResponse {
        var fields = fields
        fields[named: "Upload-Draft-Interop-Version"] = head.version
        return HTTPResponse(
            status: .init(code: 104, reasonPhrase: "Upload Resumption Supported"),
            headerFields: fields)
    }

    private func fields(
        _ upload: Upload, offset: Int?, isComplete: Bool = false
    ) -> HTTPFields {
        let expiry = upload.manifest.expiry
        var fields = HTTPFields()
        fields[named: "Upload-Offset"] = offset.map(String.init)
        if head.isTus {
            fields[named: "Tus-Resumable"] = UploadHead.tusVersion
            fields[named: "Upload-Expires"] = UploadHead.date(expiry)
        } else {
            if offset != nil { fields[named: "Upload-Complete"] = isComplete ? "?1" : "?0" }
            let age = max(0, expiry - configuration.now())
            fields[named: "Upload-Limit"] =
                "max-size=\(configuration.maximumBodyByteCount), max-age=\(age)"
        }
        return fields
    }
}

extension Refusal {
    static let isWhole = Refusal(400, "the upload is complete")
}
