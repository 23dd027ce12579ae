// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Utter

extension TakePage {
    private static let parts = 1_000
    /// The sound of longer recordings stands beside their page: 30 minutes are some 5 MB.
    private static let longestInside = 1_800 * 16_000

    /// Writes the page of a take to a new file that its owner alone can read; blocks on the disk.
    static func write(
        _ take: KeptTake, of spool: Spool, to path: String, decrypts: Bool
    ) throws {
        let manifest = try take.manifest.get()
        guard !manifest.isEncrypted || decrypts else {
            throw CommandFailure(
                "take \(take.id.shortName) is encrypted, and a page of it is not",
                hint: "say that it may be: --decrypt", status: .usage)
        }
        do {
            // A file that is there already stays as it is.
            try writeNew([], to: path)
            do {
                let page = try make(take, manifest, of: spool, path)
                try writeNew(Array(page.html.utf8), to: path, over: true)
            } catch {
                _ = unsafe unlink(path.cPath)
                throw error
            }
        } catch let error as SystemError where error.code == EEXIST {
            throw CommandFailure(
                "'\(path)' or its sound exists already", hint: "choose another name",
                status: .localIO)
        } catch let error as SystemError {
            throw CommandFailure.cannotWrite(path, error)
        }
    }

    private static func make(
        _ take: KeptTake, _ manifest: TakeManifest, of spool: Spool, _ path: String
    ) throws -> TakePage {
        // A take of a service that is not known any more has its address.
        let service = (try? DeliveryPlan(of: take).serviceName) ?? manifest.lastURL
        let frames = manifest.frames ?? 0
        guard take.audioPath != nil, frames > 0 else {
            return TakePage(manifest, service: service, waveform: nil, sound: nil)
        }
        let waveform = try Waveform(spool.samples(of: take), frames: frames, parts: parts)
        let file = path + ".ogg"
        try spool.export(take, to: file)
        guard frames <= longestInside else {
            let name = ServiceURL.percentEncoded(String(file.split(separator: "/").last ?? ""))
            return TakePage(manifest, service: service, waveform: waveform, sound: .beside(name))
        }
        // It is in the page.
        defer { _ = unsafe unlink(file.cPath) }
        let opened = OwnedDescriptor(
            taking: try retryingInterrupts("open \(file)") { unsafe open(file.cPath, O_RDONLY) })
        let bytes = try readAll(opened.number, limit: 1 << 27)
        return TakePage(manifest, service: service, waveform: waveform, sound: .inside(bytes))
    }

    private static func writeNew(
        _ bytes: [UInt8], to path: String, over isThere: Bool = false
    ) throws(SystemError) {
        let flags = O_WRONLY | O_CLOEXEC | (isThere ? 0 : O_CREAT | O_EXCL)
        let number = try retryingInterrupts("open \(path)") {
            unsafe open(path.cPath, flags, 0o600)
        }
        let file = OwnedDescriptor(taking: number)
        do throws(SystemError) {
            try writeAll(bytes.span, to: file.number, at: 0)
        } catch {
            // The sound of a page that is not there is nothing to be left.
            _ = unsafe unlink((path + ".ogg").cPath)
            throw error
        }
    }
}
