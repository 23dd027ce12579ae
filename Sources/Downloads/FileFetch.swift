// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import SpeechService
internal import Upload

/// Where the bytes of a file go, and how many are there.
///
/// `@unchecked Sendable` because one thread at a time touches it: the thread `download` while a request
/// is under way, and the one that waits for its end before and after it.
final class FetchTarget: @unchecked Sendable {
    private let file: (any JournalFile)?
    /// All of them without a file, otherwise the first ones.
    private(set) var bytes: [UInt8] = []
    var part: FilePart
    /// The last answer began before the end of what was there.
    var isRestarted = false
    /// The most bytes, and why no more.
    let limit: Int
    let limitReason: String
    /// Called when bytes have come.
    private let grew: (FetchTarget) throws(DownloadFailure) -> Void
    /// The media type of the last answer.
    var type: String?
    /// The address of the own network that the last request did not connect to.
    var avoided: String?
    private static let headByteCount = 4_096

    /// It is nothing, or a text where sound is wanted: what a server says in its place.
    var isNoSound: Bool {
        let scalars =
            part.byteCount < Self.headByteCount
            ? String(validating: bytes, as: UTF8.self)?.unicodeScalars : nil
        let isShortText =
            scalars?.allSatisfy {
                $0.properties.generalCategory != .control || ("\t"..."\r").contains($0)
            } ?? false
        let isText = bytes.prefix(32).allSatisfy {
            (0x20..<0x7F).contains($0) || (0x09...0x0D).contains($0)
        }
        // Some servers call all files that they do not know plain text, also sound.
        if isShortText, FileSuffix.isPlainText(type) { return true }
        return (isText || isShortText)
            && (bytes.isEmpty || "<{".utf8.contains(bytes[0]) || FileSuffix.isText(type))
    }

    init(
        _ file: (any JournalFile)?, _ part: FilePart = FilePart(), limit: Int,
        _ limitReason: String,
        grew: @escaping (FetchTarget) throws(DownloadFailure) -> Void = { _ in }
    ) {
        self.file = file
        (self.part, self.limit, self.limitReason, self.grew) = (part, limit, limitReason, grew)
    }

    /// Whether nothing is connected to there, for a URL that no person has typed.
    func avoids(_ address: [UInt8]?, of url: ServiceURL) -> Bool {
        // A proxy does not say what it connects to: the URL alone is known.
        let found = address.map(OwnNetwork.shown) ?? OwnNetwork.ownPlace(in: url.text)
        avoided = found ?? avoided
        return found != nil
    }

    func cut() throws(DownloadFailure) {
        bytes.removeSubrange(min(part.byteCount, bytes.count)...)
        guard let number = file?.descriptor else { return }
        try onDisk { () throws(SystemError) in try truncateFile(number, to: part.byteCount) }
    }

    func write(_ new: Span<UInt8>) throws(DownloadFailure) {
        guard part.byteCount + new.count <= limit else { throw .noRoom(limitReason) }
        if let file {
            try onDisk { () throws(SystemError) in try file.write(new, at: part.byteCount) }
        }
        let kept = file == nil ? new.count : max(0, Self.headByteCount - bytes.count)
        bytes.append(new.extracting(first: kept))
        part.byteCount += new.count
        try grew(self)
    }

    func sync() throws(DownloadFailure) {
        try onDisk { () throws(SystemError) in try file?.sync() }
    }
}

/// Takes an answer into its target.
private struct FileSink: AnswerSink {
    let request: FileRequest
    let target: FetchTarget
    private(set) var step: FileRequest.Step?
    private(set) var failure: DownloadFailure?
    private(set) var skipping = 0
    private(set) var isOver = false

    init(_ request: FileRequest, _ target: FetchTarget) {
        (self.request, self.target) = (request, target)
    }

    mutating func takeHead(status: Int, headers: [(name: String, value: String)]) {
        let step = request.step(status: status, headers: headers, seconds: HTTPDate.seconds)
        self.step = step
        guard case .take(_, let skipping, let part) = step else { return isOver = true }
        self.skipping = skipping
        target.type = headers.first { $0.name == "content-type" }?.value
        attempt { [target] () throws(DownloadFailure) in
            if let total = part.total, total > target.limit { throw .noRoom(target.limitReason) }
            target.isRestarted = skipping > 0 || part.byteCount < target.part.byteCount
            target.part = part
            try target.cut()
        }
    }

    mutating func take(_ bytes: Span<UInt8>) {
        guard case .take? = step, !isOver else { return }
        let skipped = min(skipping, bytes.count)
        skipping -= skipped
        let room = (target.part.total ?? .max) - target.part.byteCount
        let piece = bytes.extracting(skipped..<skipped + min(room, bytes.count - skipped))
        guard !piece.isEmpty else { return }
        attempt { [target] () throws(DownloadFailure) in try target.write(piece) }
        if target.part.isWhole { isOver = true }
    }

    private mutating func attempt(_ body: () throws(DownloadFailure) -> Void) {
        do throws(DownloadFailure) {
            try body()
        } catch {
            (failure, isOver) = (error, true)
        }
    }
}

/// Fetches files for one download, in as many requests as that takes; called on threads that may block.
struct FileFetch: Sendable {
    let download: Download
    let transport: any Transport
    let turns: Turns
    /// The value of the field that opens the typed origin, and its name.
    let token: (name: String, value: String)?
    /// Whether the person wants no more of it, and how that is told.
    let isOver: @Sendable () -> DownloadFailure?
    let notices: Notices

    static let longestIdle = Duration.seconds(60)
    private static let redirectLimit = 5
    /// The most that a server may ask to be left alone for, before it is asked again.
    private static let longestPause = Duration.seconds(60)
    /// Between requests that have brought nothing.
    static let pauses: [Duration] = [.milliseconds(250), .seconds(1), .seconds(4)]

    enum Ending: Sendable {
        case whole(at: ServiceURL)
        case unchanged
    }

    /// Fetches until the file is whole, or a range of it, going on where a request breaks off.
    ///
    /// The token may go along if it `isOpened`: not with what a playlist names. `knownTag` is that of a
    /// whole copy.
    func load(
        _ url: ServiceURL, _ range: Range<Int>? = nil, isOpened: Bool, knownTag: String? = nil,
        into target: FetchTarget
    ) throws(DownloadFailure) -> Ending {
        var (failures, renewals, most) = (0, 0, target.part.byteCount)
        let keepsCoding = FileSuffix.isCompressed(url)
        while true {
            target.isRestarted = false
            do throws(DownloadFailure) {
                let request = FileRequest(
                    target.part, of: range, knownTag: knownTag, keepsCoding: keepsCoding)
                if let ending = try ask(url, isOpened, request, target) { return ending }
                // A file that has changed since begins anew at once.
            } catch {
                switch error {
                case .unreachable, .busy: break
                default: throw error
                }
                failures = target.part.byteCount > most ? 1 : failures + 1
                most = max(most, target.part.byteCount)
                guard failures <= Self.pauses.count else {
                    throw target.isRestarted ? .unusable(Self.restarting) : error
                }
                try pause(Self.pauses[failures - 1])
                continue
            }
            (renewals, most) = (renewals + 1, 0)
            guard renewals <= Self.pauses.count else { throw .unusable("it changes each time") }
        }
    }

    private static let restarting =
        "it breaks off each time, and the server cannot be gone on with: it sends all of it again"

    func pause(_ time: Duration) throws(DownloadFailure) {
        _ = waits(time) { isOver() != nil }
        if let failure = isOver() { throw failure }
    }

    /// Makes one request, and those to which it leads; nil when what was there is of no use.
    private func ask(
        _ typed: ServiceURL, _ isOpened: Bool, _ request: FileRequest, _ target: FetchTarget
    ) throws(DownloadFailure) -> Ending? {
        // Another origin chooses no path that is opened.
        var (url, isOpened) = (typed, isOpened)
        for hop in 0...Self.redirectLimit {
            let (answer, result) = try perform(request, at: url, isOpened, target)
            if let failure = answer.failure ?? isOver() { throw failure }
            if let address = target.avoided, answer.step == nil {
                throw .ownNetwork(host: url.origin.description, address: address)
            }
            switch answer.step {
            case .take?:
                guard result.ending == .answered else { throw Self.broken(result) }
                if target.part.total == nil, result.timings.httpVersion != "2",
                    result.header("transfer-encoding") ?? result.header("content-length") == nil
                {
                    notices.note("the server does not say how long it is; it ended the connection")
                }
                // A part does not say that it is the last.
                if result.header("content-range") == nil, answer.skipping == 0 {
                    target.part.total = target.part.total ?? target.part.byteCount
                }
                guard target.part.isWhole else { throw .unreachable("only a part of it came") }
                return .whole(at: url)
            case .whole?: return .whole(at: url)
            case .unchanged?: return .unchanged
            case .anew?:
                target.part = FilePart()
                return nil
            case .moved(let location)?:
                url = try resolve(location, from: url)
                isOpened = isOpened && url.origin == typed.origin
            case .busy(let status)?:
                try pause(min(result.retryAfter, Self.longestPause))
                throw .busy(status: status)
            // An address that has expired is asked for again.
            case .refused(let status)? where hop > 0: throw .busy(status: status)
            case .refused(let status)?: throw .refused(status: status)
            case .unusable(let reason)?: throw .unusable(reason)
            case nil: throw Self.broken(result)
            }
        }
        throw .unusable("it leads from URL to URL, more than \(Self.redirectLimit) times")
    }

    /// The URL to which another one leads, or that its playlist names.
    func resolve(_ text: String, from url: ServiceURL) throws(DownloadFailure) -> ServiceURL {
        let next: ServiceURL
        do throws(ServiceError) {
            next = try url.resolving(location: text)
        } catch {
            throw .unusable(error.description)
        }
        guard !url.text.hasPrefix("https:") || next.text.hasPrefix("https:") else {
            throw .unusable("it leads from https to http, to \(next)")
        }
        return next
    }

    private static func broken(_ result: TransferResult) -> DownloadFailure {
        switch result.ending {
        case .cancelled: .left
        case .insecure(let text), .notTLS(let text), .badResponse(let text), .unprepared(let text):
            .unusable(text)
        default: .unreachable(result.ending.reason ?? result.ending.word)
        }
    }

    private func perform(
        _ request: FileRequest, at url: ServiceURL, _ isOpened: Bool, _ target: FetchTarget
    ) throws(DownloadFailure) -> (FileSink, TransferResult) {
        while !turns.take() { try pause(.milliseconds(20)) }
        defer { turns.give() }
        if let failure = isOver() { throw failure }
        target.avoided = nil
        let transfer = transfer(request, to: url, isOpened, target)
        let (answer, result) = try onDisk { () throws(SystemError) in
            try AwaitedTransfer.perform(
                transfer, into: FileSink(request, target), by: transport
            ) {
                isOver() != nil
            }
        }
        if transfer.avoids != nil, transfer.proxy != nil {
            notices.note(
                "through a proxy it cannot be checked whether \(download.url.origin), or what it leads to, is in the own network"
            )
        }
        return (answer, result)
    }

    private func transfer(
        _ request: FileRequest, to url: ServiceURL, _ isOpened: Bool, _ target: FetchTarget
    ) -> TransferRequest {
        var fields = request.fields
        fields.append(UtterVersion.userAgent)
        if isOpened, let token, url.origin == download.url.origin { fields.append(token) }
        var transfer = TransferRequest(
            url: url.text, headers: fields, body: RequestBody([]),
            deadlines: TransferDeadlines(answer: Self.longestIdle, whole: .seconds(30 * 86_400)))
        (transfer.method, transfer.isDownload, transfer.responseLimit) = ("GET", true, .max)
        (transfer.keepsCoding, transfer.endsWithConnection) = (request.keepsCoding, true)
        transfer.connection = download.connection.reaching(url)
        if !isOwn(url.origin) { transfer.avoids = { [target] in target.avoids($0, of: url) } }
        return transfer
    }

    /// Whether the person has typed this origin as one of the own network.
    private func isOwn(_ origin: Origin) -> Bool {
        if download.ownOrigins.contains(origin) { return true }
        guard origin == download.url.origin else { return false }
        let name = origin.host
        return name.hasPrefix("[") || name.allSatisfy { $0.isNumber || $0 == "." }
            || OwnNetwork.isOwnName(name)
    }
}
