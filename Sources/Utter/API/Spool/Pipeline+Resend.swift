// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import Capture
internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform
public import TakeStore

/// How takes of earlier runs are sent.
extension Pipeline {
    /// How long a process that only looks at a take may hold its lock.
    private static let lockPatience = Duration.seconds(2)

    /// Sends a take that an earlier run has kept, or sends one that is answered once more.
    ///
    /// A take whose program has died is brought to an end first. What the plan says is what the take
    /// remembers from now on. A plan for another service has secrets of its own; those that the take
    /// remembers belong to the origin for which they were given. The take runs whatever becomes of the
    /// calling task.
    ///
    /// - Parameters:
    ///   - take: which one.
    ///   - plan: where it goes and how; nil is where it was meant to go.
    /// - Returns: the take under its old name.
    /// - Throws: `TakeStoreError` when there is no such take, its audio is gone or cannot be read, it
    ///   does not remember where it was meant to go, or another process holds it.
    public func resend(
        _ take: KeptTake, by plan: DeliveryPlan? = nil
    ) async throws(TakeStoreError) -> Take {
        if let plan { return try await resend(take.id, by: plan) }
        return try await resend(take.id, by: DeliveryPlan(of: take))
    }

    /// Sends kept takes, some at a time, and tells how each ended, in the order given.
    ///
    /// A service that cannot be reached, or refuses its token, is sent no more of them. Nothing is
    /// sent before the endings are asked for.
    ///
    /// - Parameters:
    ///   - takes: which ones, such as those of `Spool.takes(where: .due)`.
    ///   - jobs: how many are sent at a time.
    ///   - plan: where each goes and how; by default where it was meant to go. Of its pauses after the
    ///     release the first alone counts: other takes wait.
    /// - Returns: the endings, for one listener.
    public func resend(
        _ takes: [KeptTake], jobs: Int = 4,
        by plan: @escaping @Sendable (KeptTake) throws(TakeStoreError) -> DeliveryPlan = {
            take throws(TakeStoreError) in try DeliveryPlan(of: take)
        }
    ) -> ResendBatch {
        ResendBatch(takes, jobs: max(1, jobs), by: plan, in: self)
    }

    /// Opens a take on a thread of its own and sends it; waits a moment for the take's lock while
    /// another process looks at the take.
    ///
    /// The spool is this pipeline's, or its archive's queue.
    package func resend(
        _ id: TakeID, of queue: Spool? = nil, by plan: DeliveryPlan,
        ifStillAfter attempts: Int? = nil
    ) async throws(TakeStoreError) -> Take {
        let deadline = ContinuousClock.now + Self.lockPatience
        let folder = try await Self.onThread { [self] () throws(TakeStoreError) in
            guard let spool = queue ?? spool else { throw .notWanted }
            let store = try spool.store()
            Recovery.recover(id, in: store)
            return try store.take(id)
        }
        while true {
            do throws(TakeStoreError) {
                return try await Self.onThread { [self] () throws(TakeStoreError) in
                    try resend(folder, of: queue, by: plan, ifStillAfter: attempts)
                }
            } catch {
                guard case .inUse(_, _, isSending: false) = error, deadline > .now,
                    await folder.isFree(by: deadline)
                else { throw error }
            }
        }
    }

    /// Runs what blocks on the disk on a thread of its own.
    private static func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(TakeStoreError) -> Value
    ) async throws(TakeStoreError) -> Value {
        let result: Result<Value, TakeStoreError>
        do throws(SystemError) {
            result = try await NamedThread.result(name: "open", of: body)
        } catch {
            throw .folderUnusable(path: "takes", reason: error.description)
        }
        return try result.get()
    }

    /// Sends a take that an earlier run has kept, in the form that the plan says.
    ///
    /// Blocks on the disk, and for the codec when the form is another than that of the recording. What
    /// the plan says is what the take remembers from now on.
    ///
    /// - Parameters:
    ///   - folder: the take's.
    ///   - plan: where it goes and how.
    ///   - attempts: how many attempts were known of when the caller decided to send the take; one
    ///     that another process has sent, answered or cancelled since is left alone. Nil is anything.
    /// - Returns: the take under its old name.
    /// - Throws: `TakeStoreError` when there is no such take, its audio is gone, or it does not wait.
    func resend(
        _ folder: TakeFolder, of queue: Spool? = nil, by plan: DeliveryPlan,
        ifStillAfter attempts: Int? = nil
    ) throws(TakeStoreError) -> Take {
        guard let spool = queue ?? spool else { throw .notWanted }
        guard !isOver else {
            throw .folderUnusable(path: "takes", reason: "the pipeline has been shut down")
        }
        let store = try spool.store()
        guard try folder.isOurs() else { throw store.inUse(folder) }
        guard store.holds(folder) else { throw .noSuchTake(folder.id.text) }
        var manifest = try folder.manifest()
        if let attempts, !manifest.isWaiting || manifest.attempts != attempts {
            throw .notWaiting(take: folder.id.text)
        }
        var plan = plan
        let content =
            if let suffix = manifest.archivedSuffix {
                try folder.object(suffix, of: manifest, by: &plan)
            } else {
                try folder.recording(of: &manifest, by: &plan)
            }
        let (journal, frames) = (content.journal, content.frames)
        var seal = JournalSeal(
            byteCount: journal.byteCount, sha256: content.digest ?? "", loss: nil)
        if content.digest == nil {
            seal.sha256 = try folder.reading { () throws(SystemError) in try journal.sha256() }
        }
        let bodyDigest = try folder.reading { () throws(SystemError) in
            try plan.body(of: journal, frames: frames, of: folder.id).contentDigest()
        }
        let account = CaptureAccount(
            encodedFrames: frames, gapFrames: content.gapFrames,
            encodedBytes: journal.byteCount)
        let before = manifest
        let wantsSecrets = plan.service.lacksSecrets
        let token = wantsSecrets ? nil : tokens.token(for: plan.service)
        let exchange = plan.makeExchange(
            from: manifest.progress, attemptsBefore: manifest.attempts,
            takenBefore: manifest.taken ?? 0, hasToken: token != nil)
        let way = TakeDelivery(
            start: plan.format.bodyOffset, exchange: exchange, digest: bodyDigest)
        let run = TakeRun(
            id: folder.id, plan: plan,
            machine: TakeMachine(way, recorded: seal, wantsSecrets: wantsSecrets),
            pipeline: self, account: account,
            audioPath: journal === content.file ? nil : content.file.path, token: token)
        manifest.wasAnswered = before.state == .answered ? true : before.wasAnswered
        manifest.state = .sending
        manifest.holder = getpid()
        manifest.reason = nil
        manifest.redirect(to: plan.service.url.description, by: plan.record)
        manifest.progress = exchange.progress
        let first = exchange.request
        let unsendable = plan.limitFailure(
            frames: frames, byteCount: journal.byteCount)
        if !wantsSecrets, !first.isForToken, unsendable == nil {
            manifest.beginTransfer(first.number, at: Date(), to: first.shownURL)
        }
        // Before the first byte leaves, so that a recovery knows that the take may have been
        // sent. A full disk is no reason not to send what fills it.
        try? folder.save(manifest)
        let record = ManifestWriter(
            folder: folder, journal: content.file, before: before, store: store, sync: sync,
            archiver: queue == nil ? archiver : nil, manifest: manifest,
            onSave: { [unwritten] in unwritten.note(folder.id, $0) })
        for report in content.reports { run.handle(.protection(.damage(report))) }
        began(run)
        run.hold(journal, record)
        run.didComplete()
        if let unsendable { run.handle(.unsendable(unsendable)) }
        run.handle(.opened(nil))
        return Take(run: run)
    }
}

/// What is sent of a take of an earlier run.
private struct KeptContent {
    /// On the disk.
    var file: Journal
    /// The same, or what was made of it.
    var journal: Journal
    var frames = 0
    var gapFrames = 0
    /// In hexadecimal, of the journal; nil while that is not known.
    var digest: String?
    /// What is missing of it, for a person.
    var reports: [String] = []
}

extension TakeFolder {
    /// The recording in the form that the plan says.
    ///
    /// Blocks on the disk, and for the codec when the form is another.
    fileprivate func recording(
        of manifest: inout TakeManifest, by plan: inout DeliveryPlan
    ) throws(TakeStoreError) -> KeptContent {
        guard let stated = manifest.byteCount,
            let format = AudioCodec(rawValue: manifest.format)
        else { throw .unreadable(take: id.text, reason: "its audio is not complete") }
        guard manifest.frames != 0 else {
            throw .unreadable(take: id.text, reason: "there is no sound in it")
        }
        let audio = try openAudio(of: manifest)
        // A take whose end the disk refused ends before the length that was recorded.
        let shortfall = try note(shortfallOf: audio, in: &manifest, format)
        let kept = audio.journal(byteCount: min(stated, manifest.byteCount ?? stated))
        let journal = try convert(kept, from: format, to: plan.format)
        // Another body, or one that is to be heard anew, is another request.
        if manifest.state == .answered {
            plan.idSuffix = "-\(manifest.attempts + 1)"
        } else if plan.format != format {
            plan.idSuffix = "-\(plan.format.name)"
        }
        let interruption =
            manifest.isPart == true
            ? "the end of '\(manifest.source)' may be missing: its reading was interrupted" : nil
        return KeptContent(
            file: kept, journal: journal, frames: manifest.frames ?? 0,
            gapFrames: manifest.gapFrames ?? 0,
            // What is sent now is not what was recorded then, when a part of it is silent.
            digest: journal === kept && audio.damage.isEmpty ? manifest.sha256 : nil,
            reports: [audio.damageReport, shortfall, interruption].compactMap(\.self))
    }

    /// What an archive gets under a suffix; blocks on the disk.
    fileprivate func object(
        _ suffix: String, of manifest: TakeManifest, by plan: inout DeliveryPlan
    ) throws(TakeStoreError) -> KeptContent {
        let isClosed = suffix.hasSuffix(Self.encryptedSuffix)
        let kind = isClosed ? String(suffix.dropLast(Self.encryptedSuffix.count)) : suffix
        let codec = AudioCodec(rawValue: manifest.format) ?? .wav
        let own = isClosed ? try storedAudio(of: manifest) : try openAudio(of: manifest)
        let file = own.journal(byteCount: own.byteCount)
        let frames = isClosed ? 0 : manifest.frames ?? 0
        plan.idSuffix = "-\(suffix)"
        plan.format = isClosed || kind != codec.fileExtension ? .wav : codec == .pcm ? .wav : codec
        plan.service.contentType =
            switch kind {
            case _ where isClosed: "application/octet-stream"
            case "txt": "text/plain; charset=utf-8"
            case "json": "application/json"
            default: nil
            }
        guard kind == "txt" || kind == "json" else {
            return KeptContent(
                file: file, journal: file, frames: frames,
                digest: isClosed ? nil : manifest.sha256)
        }
        var bytes = Array(((manifest.archived?.transcript ?? "") + "\n").utf8)
        if kind == "json" {
            let audio = SentAudio(
                file, as: codec == .pcm ? .wav : codec, frames: frames,
                isStored: plan.sendsParts)
            bytes = try description(of: manifest, audio, isEncrypted: isClosed)
        }
        if isClosed {
            guard let key else { throw keyError }
            bytes = try reading { () throws(SystemError) in
                try key.seal(bytes, for: Array("archive \(id.text) \(kind)".utf8))
            }
        }
        // Far less than the memory of one take holds.
        guard
            let journal = try? Journal.inMemory(from: {
                $0 = bytes; return false
            })
        else {
            throw .unreadable(take: id.text, reason: "there is no memory for its \(kind)")
        }
        return KeptContent(file: file, journal: journal)
    }

    /// What is known of a take, for its archive; reads its audio.
    private func description(
        of manifest: TakeManifest, _ audio: SentAudio, isEncrypted: Bool
    ) throws(TakeStoreError) -> [UInt8] {
        let digest = try reading { () throws(SystemError) in try RequestBody(audio).sha256() }
        let format = manifest.format == AudioCodec.pcm.name ? AudioCodec.wav.name : manifest.format
        let known = ArchivedTake(
            id: id.text, created: manifest.created, format: format,
            byteCount: audio.byteCount, sha256: digest, encrypted: isEncrypted,
            frames: manifest.frames ?? 0, gapFrames: manifest.gapFrames ?? 0,
            profile: manifest.archived?.profile, words: manifest.archived?.words)
        do {
            return try known.bytes
        } catch {
            throw .unreadable(take: id.text, reason: "its description: \(error)")
        }
    }
}

extension TakeFolder {
    fileprivate func reading<Value>(
        _ body: () throws(SystemError) -> Value
    ) throws(TakeStoreError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .unreadable(take: id.text, reason: "its audio: \(error.reason)")
        }
    }

    /// Corrects what is known of a take whose audio is shorter than it was when it was recorded.
    ///
    /// - Returns: what is missing, for a person; nil when nothing is.
    fileprivate func note(
        shortfallOf audio: TakeAudio, in manifest: inout TakeManifest, _ codec: AudioCodec
    ) throws(TakeStoreError) -> String? {
        guard let stated = manifest.byteCount, audio.byteCount < stated else { return nil }
        let before = manifest.frames ?? 0
        do {
            (manifest.byteCount, manifest.frames) = try Recovery.wholePart(of: audio, codec)
        } catch {
            throw .unreadable(take: id.text, reason: "its audio: \(error)")
        }
        let frames = manifest.frames ?? 0
        guard frames > 0 else {
            throw .unreadable(take: id.text, reason: "nothing of its audio is on the disk")
        }
        manifest.sha256 = nil
        manifest.gapFrames = manifest.gapFrames.map { min($0, frames) }
        return "its last \((before - frames) / 16) ms are not on the disk"
    }

    fileprivate func convert(
        _ journal: Journal, from old: AudioCodec, to new: AudioCodec
    ) throws(TakeStoreError) -> Journal {
        do {
            return try journal.converted(from: old, to: new, of: id)
        } catch {
            throw .unreadable(
                take: id.text, reason: "it cannot be converted to \(new.name): \(error)")
        }
    }

    fileprivate func isOurs() throws(TakeStoreError) -> Bool {
        do throws(SystemError) {
            return try lock()
        } catch {
            throw .unreadable(take: id.text, reason: error.description)
        }
    }
}

extension Journal {
    /// The same recording in another form, in memory; the same bytes each time for a take.
    ///
    /// Blocks on the disk and for the codec. PCM and WAV are one file, which is returned as it is.
    /// What does not fit into the memory of one take cannot be converted.
    ///
    /// - Throws: `TakeSamples.Failure`, `EncodingError` or `SystemError`.
    func converted(
        from old: AudioCodec, to new: AudioCodec, of take: TakeID
    ) throws -> Journal {
        guard !old.isKept(like: new) else { return self }
        // A service that has seen a body under the take's id wants the same one again.
        let encoder = try new.makeEncoder(serialNumber: FNV.hash(take.text.utf8))
        var source = TakeSamples(self, codec: old)
        var samples: [Int16] = []
        var hasBegun = false
        return try Journal.inMemory { bytes in
            if !hasBegun {
                hasBegun = true
                try encoder.begin(into: &bytes)
                return true
            }
            if try source.next(into: &samples) {
                try encoder.encode(samples.span, into: &bytes)
                return true
            }
            try encoder.finish(into: &bytes)
            return false
        }
    }
}
