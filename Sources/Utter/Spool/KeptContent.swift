// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import LinuxPlatform
internal import SpeechService
internal import TakeStore
internal import Upload

struct KeptContent {
    /// On the disk.
    var file: Journal
    /// The same, or what was made of it.
    var journal: Journal
    var frames = 0
    var gapFrames = 0
    /// In hexadecimal, of the journal; nil while that is not known.
    var digest: String?
    /// The next try would send other bytes of the same meaning.
    var isMadeAnew = false
    /// The missing parts, each in a sentence for a person.
    var reports: [String] = []
    /// An oddity of the source, for a person.
    var flaw: String?
}

extension TakeFolder {
    /// In the form that the plan says; blocks on the disk, and for the codec when that is another.
    func recording(
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
        var present = manifest
        let shortfall = try noteShortfall(of: audio, in: &present, format)
        let kept = audio.journal(byteCount: min(stated, present.byteCount ?? stated))
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
        if journal !== kept {
            // By another version of the codec it may be another body.
            plan.bodyMark = try reading { () throws(SystemError) in try journal.sha256() }
        } else if !audio.damage.isEmpty {
            plan.bodyMark = "\(audio.damage)"
        }
        // The text of all that was recorded stays, and with it what the take tells of its audio.
        if manifest.state != .answered || plan.replacesWhole { manifest = present }
        return KeptContent(
            file: kept, journal: journal, frames: present.frames ?? 0,
            gapFrames: present.gapFrames ?? 0,
            // A recording with silent parts is sent with another digest than it was recorded with.
            digest: journal === kept && audio.damage.isEmpty ? present.sha256 : nil,
            reports: [audio.damageReport, shortfall, interruption].compactMap(\.self),
            flaw: manifest.flaw)
    }

    /// The object that an archive gets under a suffix; blocks on the disk.
    func object(
        _ suffix: String, of manifest: TakeManifest, by plan: inout DeliveryPlan
    ) throws(TakeStoreError) -> KeptContent {
        let isClosed = suffix.hasSuffix(Self.encryptedSuffix)
        let kind = isClosed ? String(suffix.dropLast(Self.encryptedSuffix.count)) : suffix
        let codec = AudioCodec(rawValue: manifest.format) ?? .wav
        let own = isClosed ? try storedAudio(of: manifest) : try openAudio(of: manifest)
        let file = own.journal(byteCount: own.byteCount)
        let frames = isClosed ? 0 : manifest.frames ?? 0
        // The plan that it remembers is that of another object.
        let place = manifest.archived?.renamed(plan.service.url.text, to: suffix)
        // The end of its path has no bearing on whether a URL can be read.
        if let place, let url = try? ServiceURL(place) { plan.service.url = url }
        (plan.idSuffix, plan.hasOwnName) = ("-\(suffix)", true)
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
        do {
            let journal = try Journal.inMemory { memory in
                memory = bytes
                return false
            }
            plan.bodyMark = try journal.sha256()
            return KeptContent(file: file, journal: journal, isMadeAnew: isClosed)
        } catch {
            throw .unreadable(take: id.text, reason: "its \(kind): \(error)")
        }
    }

    /// The description of a take for its archive; reads its audio.
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

    func reading<Value>(
        _ body: () throws(SystemError) -> Value
    ) throws(TakeStoreError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .unreadable(take: id.text, reason: "its audio: \(error.reason)")
        }
    }

    /// The recording in another form, in memory; the same bytes each time for a take.
    ///
    /// Blocks on the disk and for the codec. PCM and WAV are one file, which is returned as it is.
    /// A recording that exceeds the memory of one take cannot be converted.
    fileprivate func convert(
        _ journal: Journal, from old: AudioCodec, to new: AudioCodec
    ) throws(TakeStoreError) -> Journal {
        guard !old.isKept(like: new) else { return journal }
        do {
            // A service that has seen a body under the take's id wants the same one again.
            let encoder = try new.makeEncoder(serialNumber: FNV.hash(id.text.utf8))
            var source = TakeSamples(journal, codec: old)
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
        } catch {
            throw .unreadable(
                take: id.text, reason: "it cannot be converted to \(new.name): \(error)")
        }
    }
}
