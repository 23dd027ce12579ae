// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform
internal import SpeechService
internal import Synchronization
internal import TakeStore
internal import Upload

/// An upload at a store that was begun and never ended: its parts lie there unseen, and are paid for.
public struct OpenUpload: Sendable, Hashable {
    /// The name of the object that it was to become.
    public let key: String
    /// When it began, as the store says it, in ISO 8601, UTC.
    public let begun: String
    let id: String
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
            let (root, key) = delivery.service.storeRoot
        else { return nil }
        let start = key.prefix { $0 != "{" }
        let folder = start.lastIndex(of: "/").map { start[...$0] } ?? ""
        let values = ["root": root.text, "prefix": String(folder)]
        let answer = try await ask(list, values, by: delivery)
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

    /// Makes one request that sends nothing, and belongs to no take.
    private func ask(
        _ step: JobStep, _ values: [String: String], by delivery: DeliveryPlan
    ) async throws(OpenUploadError) -> StepAnswer {
        var delivery = delivery
        switch await secrets.credentials(of: delivery.service) {
        case .success(let found): delivery.service = delivery.service.opened(with: found)
        case .failure(let failure): throw OpenUploadError(description: failure.reason)
        }
        let values = delivery.service.words.merging(values) { _, own in own }
        var request = ExchangeRequest(
            number: 1, method: .post, url: delivery.service.url, saysLength: true)
        do throws(ServiceError) {
            request.url = try step.target(from: delivery.service.url, by: values)
            request.step = step.request(
                try step.fields(by: values), by: values, for: .piece(PieceRequest(step: step)))
        } catch {
            throw OpenUploadError(description: error.description)
        }
        request.step?.carriesSecrets = delivery.trusts(request.url.origin)
        let answer = WholeAnswer()
        _ = wiring.transfer.start(
            delivery.request(request, for: Journal(), frames: 0, of: nextID()), after: .zero,
            atLeast: .zero, observer: answer)
        let result = await answer.end.value
        let body = answer.body.withLock { $0 }
        guard result.ending == .answered, let status = result.status,
            StatusVerdict.of(status: status) == .accepted
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

/// Waits for one answer, and holds up to 1 MiB of it.
private final class WholeAnswer: TransferObserver {
    let body = Mutex<[UInt8]>([])
    let end = Settlement<TransferResult>()

    var reading: AnswerReading { .goesOn }

    func transferDidConnect() {}
    func transferDidSend(byteCount: Int, wireByteCount: Int) {}
    func transferDidReceiveHead(status: Int, headers: [(name: String, value: String)]) {}

    func transferDidReceive(_ bytes: Span<UInt8>) {
        body.withLock { $0.append(bytes.extracting(first: min(bytes.count, 1 << 20 - $0.count))) }
    }

    func transferDidEnd(_ result: TransferResult) { end.settle(result) }
}
