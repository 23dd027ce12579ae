// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform
internal import SpeechService
internal import TakeStore
internal import Upload

/// An upload at a store that was begun and never ended: its parts lie there unseen, and are paid for.
public struct OpenUpload: Sendable, Hashable {
    /// The name of the object that it was to become.
    public let key: String
    /// When it began, as the store says it, in ISO 8601, UTC.
    public let begun: String
    package let id: String
}

/// Why a store does not say which uploads are open, or does not abort one.
public struct OpenUploadError: Error, Sendable, CustomStringConvertible {
    /// In one line without capital and full stop.
    public let description: String
}

extension Pipeline {
    /// Asks a store for the uploads in its folder that were begun and not ended.
    ///
    /// The folder is that of the delivery's own object, up to the first mark of an archive. A store
    /// that has thousands tells the first of them.
    ///
    /// - Parameters:
    ///   - delivery: how a recording is stored there, by a profile with `exchange.list`.
    ///   - age: younger ones are left out.
    /// - Returns: the uploads; nil when the profile does not say how a store is asked.
    /// - Throws: `OpenUploadError` when the store does not answer, or refuses.
    public func openUploads(
        at delivery: DeliveryPlan, olderThan age: Duration
    ) async throws(OpenUploadError) -> [OpenUpload]? {
        guard case .parts(let plan) = delivery.service.exchange, let list = plan.list,
            let place = delivery.uploadPlace
        else { return nil }
        let answer = try await ask(list, place, by: delivery)
        let limit = Date(timeIntervalSinceNow: -(age / .seconds(1)))
            .formatted(.iso8601).prefix(19)
        return list.rows(of: answer).compactMap { row in
            guard let key = row["key"], let id = row["upload"], let begun = row["begun"],
                begun.prefix(19) < limit
            else { return nil }
            return OpenUpload(key: key, begun: begun, id: id)
        }
    }

    /// Has a store drop an upload that was never ended, with its parts.
    ///
    /// - Parameters:
    ///   - upload: one that `openUploads` has found.
    ///   - delivery: as for `openUploads`.
    /// - Throws: `OpenUploadError` as `openUploads`.
    public func abort(
        _ upload: OpenUpload, at delivery: DeliveryPlan
    ) async throws(OpenUploadError) {
        guard case .parts(let plan) = delivery.service.exchange, let abort = plan.abort,
            let (root, _) = delivery.service.storeRoot
        else { throw OpenUploadError(description: "the profile has no 'exchange.abort'") }
        var delivery = delivery
        delivery.service.moveObject(to: upload.key, below: root)
        _ = try await ask(abort, ["upload": upload.id], by: delivery)
    }

    /// Has a service drop what it has of a take that is not whole there; does nothing if that is nothing.
    ///
    /// - Throws: `OpenUploadError` as `openUploads`.
    package func dropUpload(of take: KeptTake) async throws(OpenUploadError) {
        // A take that does not know where it was meant to go has sent nothing.
        guard let values = take.known?.progress?.values, let delivery = try? DeliveryPlan(of: take)
        else { return }
        switch delivery.service.exchange {
        case .parts(let plan):
            let table = PartsTable(from: values)
            if let abort = plan.abort, table.stage == .made {
                _ = try await ask(abort, table.captured, by: delivery)
            } else if table.stage == .asked, let (_, key) = delivery.service.storeRoot {
                for upload in try await openUploads(at: delivery, olderThan: .zero) ?? []
                where upload.key == key { try await abort(upload, at: delivery) }
            }
        case .upload(let kind, _):
            // A text that does not parse leads nowhere.
            guard let url = values["upload"].flatMap({ try? ServiceURL($0) }),
                delivery.trusts(url.origin)
            else { return }
            let use = UploadRequest(kind: kind, step: .ask, start: 0)
            let delete = StepRequest(
                method: .delete, content: StepRequest.Content(), use: .upload(use))
            _ = try await send(delete, to: url, by: delivery)
        case .post, .job: return
        }
    }

    /// Makes one request that sends nothing, and belongs to no take.
    private func ask(
        _ step: JobStep, _ values: [String: String], by delivery: DeliveryPlan
    ) async throws(OpenUploadError) -> StepAnswer {
        let values = delivery.service.words.merging(values) { _, own in own }
        let (url, request): (ServiceURL, StepRequest)
        do throws(ServiceError) {
            url = try step.target(from: delivery.service.url, by: values)
            request = step.request(
                try step.fields(by: values), by: values, for: .piece(PieceRequest(step: step)))
        } catch {
            throw OpenUploadError(description: error.description)
        }
        return try await send(request, to: url, by: delivery)
    }

    private func send(
        _ step: StepRequest, to url: ServiceURL, by delivery: DeliveryPlan
    ) async throws(OpenUploadError) -> StepAnswer {
        var request = ExchangeRequest(number: 1, method: .post, url: url, saysLength: true)
        request.step = step
        request.step?.carriesSecrets = delivery.trusts(url.origin)
        var delivery = delivery
        switch await secrets.credentials(of: delivery.service) {
        case .success(let found): delivery.service = delivery.service.opened(with: found)
        case .failure(let failure): throw OpenUploadError(description: failure.reason)
        }
        let transfer = delivery.request(request, for: Journal(), frames: 0, of: nextID())
        let (result, body): (TransferResult, [UInt8])
        do throws(SystemError) {
            let (taken, end) = try await NamedThread.result(name: "store") {
                [transport = wiring.transfer] () throws(SystemError) in
                try AwaitedTransfer.perform(transfer, into: ObjectSink(1 << 20), by: transport)
            }.get()
            (result, body) = (end, taken.body)
        } catch {
            throw OpenUploadError(description: error.description)
        }
        guard result.ending == .answered, let status = result.status,
            // An upload that is to be dropped may be gone.
            StatusVerdict.of(status: status) == .accepted
                || step.method != .get && [404, 410].contains(status)
        else {
            let host = delivery.service.url.origin.description
            let words = ServiceMessage.extract(from: body).map {
                ": \(delivery.service.redacted($0))"
            }
            throw OpenUploadError(
                description: result.status.map { "\(host) answers with status \($0)\(words ?? "")" }
                    ?? TakeFailure.notDelivered(result.ending, host: host).description)
        }
        return StepAnswer(headers: result.headers, body: body)
    }
}

extension DeliveryPlan {
    /// Where all objects of a store lie, and the folder of this one, by the words of `exchange.list`;
    /// nil for a service that is not asked for open uploads.
    package var uploadPlace: [String: String]? {
        guard case .parts(let plan) = service.exchange, plan.list != nil,
            let (root, key) = service.storeRoot
        else { return nil }
        let start = key.prefix { $0 != "{" }
        let folder = start.lastIndex(of: "/").map { start[...$0] } ?? ""
        return ["root": root.text, "prefix": String(folder)]
    }
}
