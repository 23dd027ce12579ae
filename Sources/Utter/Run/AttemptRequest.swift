// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import SpeechService
internal import TakeStore
internal import Upload

extension DeliveryPlan {
    /// One attempt to deliver a take.
    ///
    /// - Parameters:
    ///   - request: what the exchange asks for.
    ///   - journal: the take's audio.
    ///   - id: the same for all attempts, so that a service may know them as one.
    /// - Returns: what the transfer loop needs to know.
    func request(
        _ request: ExchangeRequest, for journal: Journal, of id: TakeID
    ) -> TransferRequest {
        var headers = service.requestHeaders(audioMediaType: format.mediaType)
            .map { (name: $0.name, value: $0.value) }
        let own = [
            (name: "User-Agent", value: "utter/\(UtterVersion.text)"),
            (name: idHeader, value: "\"\(id.text)\(idSuffix)\""),
            (name: "Utter-Attempt", value: "\(request.number)"),
        ]
        // A field that the service's description names replaces ours.
        headers += own.filter { own in !service.headers.contains { $0.isNamed(own.name) } }
        var transfer = TransferRequest(
            url: request.url.text, headers: headers, journal: journal,
            bodyOffset: format.bodyOffset,
            deadlines: deadlines, certificateFile: certificateFile)
        transfer.httpVersion = httpVersion
        // No proxy can reach this machine's own services.
        transfer.bypassesProxy = request.url.isLoopback
        transfer.bytesPerSecond = catchUpRate?.bytesPerSecond(of: format)
        transfer.method = request.method.rawValue
        // A recording that goes on has its own connection, whose end is then its own as well.
        transfer.leavesConnection = request.isComplete
        if request.isComplete, !request.wantsFreshConnection {
            transfer.longestIdleTime = PostOnce.longestIdleTime
        }
        if request.saysLength { transfer.contentLength = journal.byteCount - format.bodyOffset }
        return transfer
    }

    /// The field that lets a service know a body again (RFC 9530 §2).
    ///
    /// - Parameter sha256: the body's digest in hexadecimal.
    /// - Returns: the field, or nothing when the service's description names its own.
    func digestHeaders(_ sha256: String) -> [(name: String, value: String)] {
        let name = "Content-Digest"
        guard sha256.utf8.count == 64, !service.headers.contains(where: { $0.isNamed(name) })
        else { return [] }
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { index in
            UInt8(sha256.dropFirst(index).prefix(2), radix: 16)
        }
        return [(name: name, value: "sha-256=:\(Data(bytes).base64EncodedString()):")]
    }
}
