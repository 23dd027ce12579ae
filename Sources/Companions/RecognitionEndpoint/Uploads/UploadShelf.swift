// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
internal import HTTPTypes
internal import LinuxPlatform
internal import Synchronization

/// The uploads of one endpoint and their folder, which outlives it.
///
/// An upload is `NAME.json`, its manifest, and `NAME.audio`, its bytes. The name is the secret part
/// of the upload's URL: 128 random bits in hexadecimal digits.
final class UploadShelf: Sendable {
    private struct Use {
        var count = 0
        var byteCount = 0
    }

    private struct State {
        var uploads: [String: Upload] = [:]
        /// By the client's address; without the answered ones.
        var uses: [String: Use] = [:]
        var byteCount = 0
        /// The answered ones, the oldest first.
        var answered: [String] = []
    }

    /// The most answered uploads that are kept for a client whose answer was lost.
    static let answeredLimit = 256
    /// More than the manifest of any recording: it holds the answer.
    private static let manifestLimit = 16 << 20

    private let folder: Folder
    let configuration: RecognitionEndpointConfiguration
    let pool: RecogniserPool
    let ledger: AnswerLedger
    private let state = Mutex(State())

    /// Opens the folder and what is in it; blocks on the disk.
    ///
    /// - Returns: nil when another endpoint uses the folder.
    init?(
        _ path: String, configuration: RecognitionEndpointConfiguration, pool: RecogniserPool,
        ledger: AnswerLedger
    ) throws(SystemError) {
        folder = try Folder.make(at: path)
        (self.configuration, self.pool, self.ledger) = (configuration, pool, ledger)
        guard try folder.lock() else { return nil }
        try folder.closeToOthers()
        let names = try folder.names()
        for file in names where file.hasSuffix(".json") {
            // An unreadable upload is removed with files that belong to nothing.
            try? load(Self.name(of: file))
        }
        for file in names where state.withLock({ $0.uploads[Self.name(of: file)] == nil }) {
            // A file that stays takes room and does nothing.
            try? folder.removeFile(file)
        }
    }

    private static func name(of file: String) -> String { String(file.prefix { $0 != "." }) }

    private func load(_ name: String) throws {
        let bytes = try folder.contents(of: name + ".json", limit: Self.manifestLimit)
        let manifest = try JSONDecoder().decode(UploadManifest.self, from: Data(bytes))
        guard manifest.expiry > configuration.now() else { return }
        let file = try folder.openFileForBoth(name + ".audio")
        let size = folder.size(of: name + ".audio") ?? 0
        let count = manifest.answer == nil ? size : manifest.length ?? 0
        let upload = Upload(name, manifest, makePlainFile(file), byteCount: count)
        state.withLock { state in
            state.uploads[name] = upload
            if manifest.answer == nil {
                state.uses[manifest.peer, default: Use()].count += 1
                state.uses[manifest.peer, default: Use()].byteCount += size
                state.byteCount += size
            } else {
                state.answered.append(name)
            }
        }
    }

    // MARK: - Uploads

    func create(_ manifest: UploadManifest) async throws(Refusal) -> Upload {
        try state.withLock { state throws(Refusal) in
            let use = state.uses[manifest.peer, default: Use()]
            guard use.count < configuration.maximumUploadCountPerClient else {
                throw .tooMany("uploads of this client are not finished")
            }
            state.uses[manifest.peer, default: Use()].count += 1
        }
        let name = [UInt8].random(16).hexadecimal
        do {
            let file = try await onDisk { [folder] in
                let file = makePlainFile(try folder.createFile(name + ".audio"))
                try Self.save(manifest, of: name, in: folder)
                return file
            }
            let upload = Upload(name, manifest, file, byteCount: 0)
            state.withLock { $0.uploads[name] = upload }
            return upload
        } catch {
            giveBack(0, 1, of: manifest.peer)
            throw .cannotStore(error)
        }
    }

    func find(_ name: String) -> Upload? { state.withLock { $0.uploads[name] } }

    /// Appends bytes within the bounds; one that would be too long is removed.
    func append(_ bytes: [UInt8], to upload: Upload) async throws(Refusal) {
        let manifest = upload.manifest
        let count = upload.byteCount + bytes.count
        guard count <= manifest.length ?? .max else {
            await remove(upload)
            throw .inconsistentLength
        }
        let limit = configuration.maximumBodyByteCount
        guard count <= limit else {
            await remove(upload)
            throw Refusal(.tooLarge(limit: limit))
        }
        try state.withLock { state throws(Refusal) in
            let use = state.uses[manifest.peer, default: Use()].byteCount + bytes.count
            guard use <= configuration.maximumUploadByteCountPerClient else {
                throw .tooMany("bytes of this client's uploads are not finished")
            }
            guard state.byteCount + bytes.count <= configuration.maximumUploadByteCount else {
                throw Refusal(
                    503, "there is no room for more of an upload", fields: [.retryAfter: "60"])
            }
            state.uses[manifest.peer, default: Use()].byteCount = use
            state.byteCount += bytes.count
        }
        do {
            try await upload.append(bytes)
        } catch {
            giveBack(bytes.count, 0, of: manifest.peer)
            // An upload that was deleted meanwhile says so itself.
            throw error as? Refusal ?? .cannotStore(error)
        }
        feed(upload)
    }

    /// Feeds a recogniser with the bytes that are there, unless one is being fed.
    func feed(_ upload: Upload) {
        guard upload.beginFeed() else { return }
        let feed = UploadFeed(upload: upload, shelf: self)
        Task(executorPreference: configuration.executor) { await feed.run() }
    }

    /// Takes its recogniser from an upload that has broken off, if there is no other; that upload is
    /// recognised from its first byte when it goes on.
    func makeRoom() {
        guard pool.isFull else { return }
        let uploads = state.withLock { Array($0.uploads.values) }
        _ = uploads.contains { $0.stopFeed(.brokenOff, onlyIdle: true) }
    }

    /// How long a recogniser waits for an upload that breaks off now: not while others need it.
    var patience: Duration { pool.isCrowded ? .zero : configuration.uploadPatience }

    /// Notes that all bytes are here, durably.
    func complete(_ upload: Upload) async throws(Refusal) {
        let count = upload.byteCount
        try await change(upload) { manifest in
            manifest.isWhole = true
            manifest.length = count
        }
        upload.wakeFeed()
        feed(upload)
    }

    func setLength(_ length: Int, of upload: Upload) async throws(Refusal) {
        guard upload.manifest.length != length else { return }
        guard length >= upload.byteCount else { throw .inconsistentLength }
        try await change(upload) { $0.length = length }
    }

    private func change(
        _ upload: Upload, _ change: (inout UploadManifest) -> Void
    ) async throws(Refusal) {
        guard upload.change(change) else { throw .noUpload }
        do {
            try await onDisk { [folder] in
                // A request and the recogniser may change it at once: the last one writes the newest.
                try upload.saving.withLock { _ in
                    try Self.save(upload.manifest, of: upload.name, in: folder)
                }
            }
        } catch {
            throw .cannotStore(error)
        }
    }

    private static func save(
        _ manifest: UploadManifest, of name: String, in folder: Folder
    ) throws {
        try folder.replaceFile(name + ".json", with: Array(try JSONEncoder().encode(manifest)))
    }

    /// Keeps an answer in the place of the audio.
    func keep(_ answer: Recognition, of upload: Upload) async {
        let manifest = upload.manifest
        guard upload.change({ $0.answer = answer }) else { return }
        do {
            try await change(upload) { _ in }
            try await onDisk { [folder] in
                try folder.truncateFile(upload.name + ".audio", to: 0)
            }
        } catch {
            // The audio stays until the upload expires, and is recognised again when that is needed.
        }
        giveBack(upload.byteCount, 1, of: manifest.peer)
        let old = state.withLock { state in
            state.answered.append(upload.name)
            guard state.answered.count > Self.answeredLimit else { return nil as Upload? }
            return state.uploads[state.answered.removeFirst()]
        }
        if let old { await remove(old) }
    }

    private func giveBack(_ byteCount: Int, _ count: Int, of peer: String) {
        state.withLock { state in
            state.byteCount -= byteCount
            state.uses[peer]?.byteCount -= byteCount
            state.uses[peer]?.count -= count
            if let use = state.uses[peer], use.count == 0, use.byteCount == 0 {
                state.uses[peer] = nil
            }
        }
    }

    func remove(_ upload: Upload, telling failure: BodyFailure? = nil) async {
        guard upload.remove(telling: failure) else { return }
        state.withLock { state in
            state.uploads[upload.name] = nil
            state.answered.removeAll { $0 == upload.name }
        }
        let manifest = upload.manifest
        if manifest.answer == nil { giveBack(upload.byteCount, 1, of: manifest.peer) }
        // A file that stays is removed by the next endpoint.
        try? await onDisk { [folder] in
            try folder.removeFile(upload.name + ".json")
            try folder.removeFile(upload.name + ".audio")
        }
    }

    /// Removes expired uploads; called before each request.
    func sweep() async {
        let now = configuration.now()
        let uploads = state.withLock { Array($0.uploads.values) }
        for upload in uploads where upload.manifest.expiry <= now {
            await remove(upload, telling: .expired)
        }
    }

    /// Stops all feeds and leaves the folder to the next endpoint.
    func stop() {
        for upload in state.withLock({ Array($0.uploads.values) }) {
            upload.stopFeed(.shuttingDown)
        }
        folder.unlock()
    }
}

extension Refusal {
    static func tooMany(_ what: String) -> Refusal {
        Refusal(429, "too many \(what)", fields: [.retryAfter: "60"])
    }

    static func cannotStore(_ error: any Error) -> Refusal {
        let reason = (error as? SystemError)?.reason ?? "\(error)"
        return Refusal(503, "the upload cannot be stored: \(reason)", fields: [.retryAfter: "60"])
    }
}
