// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform

extension TakeStore {
    /// Recovers every take that no process records or sends, oldest first; blocks on the disk.
    ///
    /// A take that cannot be recovered does not stop the others.
    @discardableResult
    package func recoverAll() throws(TakeStoreError) -> [TakeID] {
        clearLeftovers()
        return try ids().filter { recover($0) }
    }

    /// Unless a process records or sends it; false when it was not recovered; blocks on the disk.
    @discardableResult
    package func recover(_ id: TakeID) -> Bool {
        // The list shows what cannot be read, with the reason.
        (try? Recovery.recover(take(id), in: self)) ?? false
    }
}

/// Brings takes to an end whose program died while it recorded or sent them.
///
/// Idempotent, and may itself be killed anywhere: the audio is cut first, then the manifest is
/// replaced; until then the take is found again by the next recovery. Reads the audio only of
/// takes that died while they were recorded; never deletes any. A take of which nothing can be
/// played goes to `quarantine`, with the reason in its manifest.
enum Recovery {
    /// More than the longest page or frame of any codec: a longer end is not torn by a crash but
    /// damaged in another way, and stays in the file.
    private static let longestTear = 1 << 16
    private static let mostHoles = 16
    /// A shorter file without a frame holds only headers.
    private static let headerLimit = 512

    /// A take that no process records or sends.
    private enum Orphan {
        /// The manifest says that a process records or sends it.
        case inHand(TakeManifest)
        /// Without a manifest; `isDamaged`: an unreadable one.
        case unnamed(isDamaged: Bool)
        /// The manifest says that it waits, but its audio is gone.
        case withoutAudio
    }

    fileprivate static func recover(_ take: TakeFolder, in store: TakeStore) throws -> Bool {
        guard look(at: take) != nil, try take.lock(), store.holds(take) else { return false }
        try store.rings?.complete(take)
        // Another process may have been quicker before we had the lock.
        switch look(at: take) {
        case nil:
            return false
        case .inHand(let manifest)?:
            return try end(manifest, take, store)
        case .withoutAudio?:
            // Only the replacement that was being written is there: it is used.
            if try take.audioName() != nil { return try recover(take, in: store) }
            try store.quarantine(take)
            return false
        case .unnamed(let isDamaged)?:
            guard let audio = try take.audioName() else {
                if try !store.removeIfEmpty(take), isDamaged { try store.quarantine(take) }
                return false
            }
            if isDamaged { try take.setManifestAside() }
            return try end(rebuilt(take, audio: audio), take, store)
        }
    }

    /// Looks at a take; nil when it is final or waits to be sent, and where only a person, or a
    /// later program, can tell.
    private static func look(at take: TakeFolder) -> Orphan? {
        do throws(TakeStoreError) {
            let manifest = try take.manifest()
            guard manifest.isWaiting else { return nil }
            do throws(SystemError) {
                _ = try take.audioByteCount(fileName: manifest.audio)
            } catch {
                return error.code == ENOENT ? .withoutAudio : nil
            }
            return manifest.state == .kept ? nil : .inHand(manifest)
        } catch {
            switch error {
            case .damaged: return .unnamed(isDamaged: true)
            case .unreadable where take.manifestTime == nil: return .unnamed(isDamaged: false)
            default: return nil
            }
        }
    }

    private static func end(
        _ found: TakeManifest, _ take: TakeFolder, _ store: TakeStore
    ) throws -> Bool {
        var manifest = found
        take.addNotedTransfers(to: &manifest)
        let audio: TakeAudio
        do throws(TakeStoreError) {
            audio = try take.openAudio(of: manifest)
        } catch {
            guard case .damaged(_, let reason) = error else { throw error }
            return try setAside(manifest, take, store, reason: reason)
        }
        let wasRecording = manifest.state == .recording
        // A power cut takes the end of a sealed take.
        if wasRecording || audio.byteCount < manifest.byteCount ?? .max {
            guard let codec = AudioCodec(rawValue: manifest.format) else { return false }
            guard try complete(&manifest, audio, codec, in: take) else {
                let size = audio.byteCount + audio.tornByteCount
                guard size < headerLimit else {
                    return try setAside(
                        manifest, take, store, reason: "nothing of its audio is on the disk")
                }
                store.removeEmptyTake(take)
                return false
            }
        } else if manifest.frames == 0, audio.byteCount < headerLimit {
            // Sealed without a sample: its program died on the way to this.
            store.removeEmptyTake(take)
            return false
        }
        // A second try that died takes nothing away.
        manifest.abandon(
            reason: manifest.reason
                ?? TakeManifest.programEnded + (wasRecording ? "recording" : "sending"))
        manifest.doubtLastTransfer()
        try take.save(manifest)
        take.forgetNotedTransfers()
        return true
    }

    private static func setAside(
        _ found: TakeManifest, _ take: TakeFolder, _ store: TakeStore, reason: String
    ) throws -> Bool {
        var manifest = found
        manifest.keep(reason: reason)
        // Killed in between, only the reason is missing: what cannot be sent never waits.
        try store.quarantine(take)
        try take.save(manifest)
        return false
    }

    /// Cuts the audio after its whole part, makes holes before silent, and updates the manifest.
    ///
    /// Returns false, and changes nothing, without a whole frame.
    private static func complete(
        _ manifest: inout TakeManifest, _ found: TakeAudio, _ codec: AudioCodec,
        in take: TakeFolder
    ) throws -> Bool {
        var audio = found
        // The frames of an encrypted file vouch for their zeros.
        let dropsEmptyTail = manifest.state == .recording && !manifest.isEncrypted
        var whole = try measure(audio, codec, dropsEmptyTail: dropsEmptyTail)
        var (report, silentFrames) = (audio.damageReport, 0)
        // A power cut leaves holes of only a few blocks of the disk.
        for _ in 0..<mostHoles {
            guard let hole = whole.hole else { break }
            try take.replace(
                hole.replacedByteCount, at: hole.offset, of: audio, fileName: manifest.audio,
                with: hole.bytes)
            silentFrames += hole.silentFrames
            // Else nothing that was said.
            if audio.damage.allSatisfy({ $0.upperBound <= hole.offset + hole.replacedByteCount }) {
                report = nil
            }
            audio = try take.openAudio(of: manifest)
            whole = try measure(audio, codec, dropsEmptyTail: dropsEmptyTail)
        }
        if silentFrames > 0 { report = "\(silentFrames / 16) ms of it are lost, and silent now" }
        guard whole.frames > 0 else { return false }
        if audio.byteCount - whole.byteCount >= longestTear {
            report =
                "its audio is damaged at byte \(whole.byteCount); what follows is in the file still"
        } else if manifest.isEncrypted {
            // Bytes behind the last whole page are in a frame that others share.
            if audio.tornByteCount <= longestTear {
                try take.cutTear(audio, fileName: manifest.audio)
            }
        } else {
            // Even where it is whole already: what was reserved behind it is free then.
            try take.cutAudio(fileName: manifest.audio, to: whole.byteCount)
        }
        // Before the manifest says that it is there.
        try take.syncAudio(fileName: manifest.audio)
        manifest.byteCount = whole.byteCount
        manifest.frames = whole.frames
        manifest.sha256 = try audio.journal(byteCount: whole.byteCount).sha256()
        manifest.reason = report
        return true
    }

    private static func rebuilt(_ take: TakeFolder, audio: String) -> TakeManifest {
        let codec =
            AudioCodec.allCases.first { audio.hasPrefix("audio.\($0.fileExtension)") } ?? .pcm
        return TakeManifest(
            id: take.id, created: take.id.date ?? Date(), audio: audio, format: codec.name,
            source: "unknown", url: "")
    }

    /// The part that can be played; blocks on the disk.
    static func measure(
        _ audio: TakeAudio, _ codec: AudioCodec, dropsEmptyTail: Bool = false
    ) throws -> IntactAudio {
        let journal = audio.journal(byteCount: audio.byteCount)
        let recoverer = codec.makeRecoverer(dropsEmptyTail)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var offset = 0
        while offset < audio.byteCount {
            let count = try buffer.read(from: journal, at: offset)
            guard count > 0 else { break }
            recoverer.append(buffer.span.extracting(first: count))
            offset += count
        }
        return try recoverer.finish()
    }
}

extension TakeFolder {
    /// Corrects what is known of a take whose audio is shorter than it was when it was recorded, and
    /// says what is missing, for a person; nil when nothing is.
    package func noteShortfall(
        of audio: TakeAudio, in manifest: inout TakeManifest, _ codec: AudioCodec
    ) throws(TakeStoreError) -> String? {
        guard let stated = manifest.byteCount, audio.byteCount < stated else { return nil }
        let before = manifest.frames ?? 0
        do {
            let whole = try Recovery.measure(audio, codec)
            (manifest.byteCount, manifest.frames) = (whole.byteCount, whole.frames)
        } catch {
            throw .unreadable(take: id.text, reason: "its audio: \(error)")
        }
        let frames = manifest.frames ?? 0
        guard frames > 0 else {
            throw .unreadable(take: id.text, reason: "nothing of its audio is on the disk")
        }
        (manifest.sha256, manifest.lacksEnd) = (nil, true)
        manifest.gapFrames = manifest.gapFrames.map { min($0, frames) }
        return "its last \((before - frames) / 16) ms are not on the disk"
    }
}
