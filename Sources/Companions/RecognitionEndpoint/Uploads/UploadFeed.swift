// SPDX-License-Identifier: Apache-2.0

/// Feeds a recogniser with an upload's file from its first byte, as far and as fast as it grows.
///
/// It does not matter who appends, or whether the endpoint has been started anew in between.
struct UploadFeed: Sendable {
    let upload: Upload
    let shelf: UploadShelf

    @concurrent func run() async {
        var ending: RecognitionEvents.Event
        repeat {
            ending = await recognise()
        } while upload.endFeed(ending) && upload.beginFeed()
        if case .failed(let failure) = ending, failure.isOfRecording {
            await shelf.remove(upload)
        }
    }

    @concurrent private func recognise() async -> RecognitionEvents.Event {
        let job: RecognitionJob
        do {
            let manifest = upload.manifest
            job = try await RecognitionJob.make(
                try AudioMediaType(parsing: manifest.mediaType), manifest.hints ?? SpeechHints(),
                shelf.configuration)
        } catch {
            return .failed(.recogniserFailed(reason: BodyFile.reason(error)))
        }
        shelf.makeRoom()
        guard shelf.pool.submit(job) else { return .failed(.noRecogniser) }
        async let ticket = fill(job)
        while true {
            let event = await job.events.next()
            if case .partial(let partial) = event {
                upload.tell(partial)
                continue
            }
            upload.stopFeed(.superseded)
            let ticket = await ticket
            if case .final(let recognition) = event {
                // Before it is sent: a client that does not get it asks again.
                await shelf.keep(recognition, of: upload)
                if let ticket { shelf.ledger.commit(ticket, recognition) }
            } else if let ticket {
                shelf.ledger.abandon(ticket)
            }
            return event
        }
    }

    /// Hands all bytes over; returns the ticket under which others wait for the answer, if any.
    @concurrent private func fill(_ job: RecognitionJob) async -> AnswerLedger.Ticket? {
        var body = BodyIdentity()
        while true {
            switch await upload.piece(from: body.byteCount) {
            case .bytes(let bytes):
                body.add(bytes.span)
                await job.body.append(bytes)
            case .failed(let failure):
                job.fail(failure)
                return nil
            case .end:
                defer { job.body.finish() }
                guard body.agrees(with: upload.manifest.digest) else {
                    job.fail(.digestMismatch)
                    return nil
                }
                return await claim(body, for: job)
            }
        }
    }

    /// Notes the whole body under its key; fails the job when the key is another recording's.
    @concurrent private func claim(
        _ body: BodyIdentity, for job: RecognitionJob
    ) async -> AnswerLedger.Ticket? {
        guard let key = upload.manifest.key else { return nil }
        switch shelf.ledger.admit(key, giveUp: { job.fail(.superseded) }) {
        case .new(let ticket):
            return shelf.ledger.complete(ticket, body) ? ticket : nil
        case .known:
            // The same recording gets the same text each time.
            if await shelf.ledger.verdict(key, body) == .conflict { job.fail(.otherRecording) }
            return nil
        }
    }
}
