// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import NIOPosix
internal import Synchronization

/// The description of an upload beside its bytes, `NAME.json`.
struct UploadManifest: Codable, Sendable {
    var mediaType: String
    var format: AnswerFormat
    /// The `Idempotency-Key` and the `Content-Digest` of the request that created the upload.
    var key, digest: String?
    var hints: SpeechHints?
    /// The client's address, which bounds are counted for.
    var peer = ""
    /// The number of bytes of the whole; nil until a request says so.
    var length: Int?
    var isWhole = false
    /// In seconds since 1970.
    var expiry = 0
    /// Once it is here, the audio is removed.
    var answer: Recognition?
}

/// An upload: its bytes in a file, the request that it is in the hands of, and what was heard.
///
/// Usable from any thread. The file only grows, and one request at a time appends to it; what the
/// recogniser hears is always read back out of the file.
final class Upload: Sendable {
    typealias Event = RecognitionEvents.Event

    /// A request that has the upload for itself.
    struct Holder: Sendable {
        let events = RecognitionEvents()
        let connection: Connection

        func end() {
            events.post(.failed(.superseded))
            connection.end()
        }
    }

    private struct State {
        var manifest: UploadManifest
        var byteCount: Int
        var syncedCount = 0
        var isRemoved = false
        var holder: Holder?
        var next: (holder: Holder, turn: CheckedContinuation<Bool, Never>)?
        var partial: PartialRecognition?
        var ending: Event?
        var isFed = false
        /// Why the feed is to stop; it then says that it has stopped.
        var stop: BodyFailure?
        var growth: CheckedContinuation<Void, Never>?
        var alarm: Task<Void, Never>?
    }

    let name: String
    /// Held while the manifest is written: two that write it have one temporary file.
    let saving = Mutex(())
    private let file: any JournalFile
    private let state: Mutex<State>

    init(_ name: String, _ manifest: UploadManifest, _ file: any JournalFile, byteCount: Int) {
        (self.name, self.file) = (name, file)
        var first = State(manifest: manifest, byteCount: byteCount)
        first.ending = manifest.answer.map { .final($0) }
        state = Mutex(first)
    }

    var manifest: UploadManifest { state.withLock(\.manifest) }

    /// How many have come; those of an answered upload are not in the file any more.
    var byteCount: Int { state.withLock(\.byteCount) }

    /// False when the upload was removed.
    func change(_ change: (inout UploadManifest) -> Void) -> Bool {
        state.withLock { state in
            if !state.isRemoved { change(&state.manifest) }
            return !state.isRemoved
        }
    }

    // MARK: - One request at a time

    /// Takes the upload over; ends the request that has it, and waits until that has let go.
    ///
    /// - Returns: nil when the upload is gone, or a still newer request has asked for it.
    func hold(_ connection: Connection) async -> Holder? {
        let holder = Holder(connection: connection)
        let isMine = await withCheckedContinuation { turn in
            let (before, skipped) = state.withLock { state in
                let found = (state.holder, state.next?.turn)
                if found.0 == nil { state.holder = holder } else { state.next = (holder, turn) }
                return found
            }
            skipped?.resume(returning: false)
            before?.end()
            if before == nil { turn.resume(returning: true) }
        }
        guard isMine else { return nil }
        state.withLock { $0.alarm.take() }?.cancel()
        guard !state.withLock(\.isRemoved) else {
            release(patience: nil)
            return nil
        }
        return holder
    }

    /// Lets the upload go; a recogniser waits `patience` for the next request.
    func release(patience: Duration?) {
        let turn = state.withLock { state in
            let next = state.next.take()
            state.holder = next?.holder
            if next == nil, state.isFed, !state.manifest.isWhole, let patience {
                state.alarm = Task { [weak self] in
                    // A cancelled alarm is not needed any more.
                    guard (try? await Task.sleep(for: patience)) != nil else { return }
                    self?.stopFeed(.brokenOff, onlyIdle: true)
                }
            }
            return next?.turn
        }
        turn?.resume(returning: true)
    }

    /// Whether another request waits for the one that has the upload to let go.
    var isAskedFor: Bool { state.withLock { $0.next != nil } }

    /// Tells a request what is known, and from now on what becomes known.
    func follow(_ holder: Holder) {
        let (partial, ending) = state.withLock { ($0.partial, $0.ending) }
        if let partial { holder.events.post(.partial(partial)) }
        if let ending { holder.events.post(ending) }
    }

    /// Ends everything; the files are the caller's to remove.
    ///
    /// - Parameter failure: what the request hears that has the upload; nil when it is the caller.
    /// - Returns: false when the upload was removed before.
    func remove(telling failure: BodyFailure?) -> Bool {
        let (isFirst, holder) = state.withLock { state in
            defer { state.isRemoved = true }
            return (!state.isRemoved, state.holder)
        }
        if let failure { holder?.events.post(.failed(failure)) }
        // The request that removes it has its own answer.
        stopFeed(.brokenOff)
        return isFirst
    }

    // MARK: - Bytes

    /// Appends bytes; only for the request that holds the upload.
    func append(_ bytes: [UInt8]) async throws {
        let offset = state.withLock(\.byteCount)
        try await onDisk { [file] in try file.write(bytes.span, at: offset) }
        let (isRemoved, growth) = state.withLock { state in
            if !state.isRemoved { state.byteCount += bytes.count }
            return (state.isRemoved, state.growth.take())
        }
        growth?.resume()
        if isRemoved { throw Refusal.noUpload }
    }

    /// Lets the feed look again, as after the manifest has changed.
    func wakeFeed() { state.withLock { $0.growth.take() }?.resume() }

    /// Makes durable what has come, and returns how much that is: only this may a client be told.
    func sync() async throws(Refusal) -> Int {
        let (count, synced) = state.withLock { ($0.byteCount, $0.syncedCount) }
        guard count > synced else { return count }
        do {
            try await onDisk { [file] in try file.sync() }
        } catch {
            throw .cannotStore(error)
        }
        state.withLock { $0.syncedCount = max($0.syncedCount, count) }
        return count
    }

    // MARK: - What is heard

    /// Says that a recogniser is to be fed; false when one is, or none is needed any more.
    func beginFeed() -> Bool {
        state.withLock { state in
            guard !state.isFed, !state.isRemoved, state.ending == nil,
                state.byteCount > 0 || state.manifest.isWhole
            else { return false }
            (state.isFed, state.stop, state.partial) = (true, nil, nil)
            return true
        }
    }

    /// Waits for the bytes from `offset` on; called by the feed alone.
    func piece(from offset: Int) async -> BodyFile.Taken {
        while true {
            let (stop, count, isWhole) = state.withLock {
                ($0.stop, $0.byteCount - offset, $0.manifest.isWhole)
            }
            if let stop { return .failed(stop) }
            if count > 0 { return await read(min(count, 65_536), at: offset) }
            if isWhole { return .end }
            await withCheckedContinuation { continuation in
                let isOld = state.withLock { state in
                    if state.stop != nil || state.byteCount > offset || state.manifest.isWhole {
                        return true
                    }
                    state.growth = continuation
                    return false
                }
                if isOld { continuation.resume() }
            }
        }
    }

    private func read(_ count: Int, at offset: Int) async -> BodyFile.Taken {
        do {
            return .bytes(try await onDisk { [file] in try file.bytes(count, at: offset) })
        } catch {
            return .failed(.recogniserFailed(reason: "the upload cannot be read"))
        }
    }

    func tell(_ partial: PartialRecognition) {
        let holder = state.withLock { state in
            state.partial = partial
            return state.holder
        }
        holder?.events.post(.partial(partial))
    }

    /// Takes note that the feed has stopped, and tells the request that has the upload, unless a new
    /// feed does: one that was idle, or has found no recogniser, is made up for while bytes come.
    ///
    /// - Returns: whether another feed is wanted at once.
    func endFeed(_ ending: Event) -> Bool {
        let (isWanted, holder) = state.withLock { state -> (Bool, Holder?) in
            (state.isFed, state.stop) = (false, nil)
            switch ending {
            case .failed(.brokenOff): return (state.holder != nil, nil)
            case .failed(.noRecogniser) where !state.manifest.isWhole: return (false, nil)
            case .final: state.ending = ending
            // An ending that the recording itself has brought about stays.
            case .failed(let failure) where failure.isOfRecording: state.ending = ending
            default: break
            }
            return (false, state.holder)
        }
        holder?.events.post(ending)
        return isWanted
    }

    /// - Returns: whether a recogniser is fed that is told to stop.
    @discardableResult
    func stopFeed(_ failure: BodyFailure, onlyIdle: Bool = false) -> Bool {
        let (isStopped, growth) = state.withLock { state in
            let isIdle = state.holder == nil && !state.manifest.isWhole
            guard state.isFed, !onlyIdle || isIdle else {
                return (false, CheckedContinuation<Void, Never>?.none)
            }
            if state.stop == nil { state.stop = failure }
            return (true, state.growth.take())
        }
        growth?.resume()
        return isStopped
    }
}

/// Runs what waits for the disk on SwiftNIO's threads for that.
func onDisk<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await NIOThreadPool.singleton.runIfActive(body)
}
