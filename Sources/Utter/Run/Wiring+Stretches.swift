// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import LinuxPlatform
internal import TakeStore

extension Wiring {
    /// Finds where a recording can be cut, on a thread of its own: it reads, and decodes.
    func cut(_ request: CutRequest, for run: TakeRun) {
        guard let journal = run.journal else { return }
        let cutter = run.cutter(of: journal)
        let find = { @Sendable [self] in
            do throws(StretchCutter.Failure) {
                let cuts = try cutter.cuts(request)
                guard cuts.isEmpty, request.end != nil, request.silence == nil else {
                    run.handle(.cut(cuts, of: request.start.frame))
                    return tellTransfer(of: run)
                }
                run.handle(.unsendable(.journal(reason: "it is shorter than it should be")))
            } catch {
                run.handle(.unsendable(.journal(reason: error.reason)))
            }
        }
        do throws(SystemError) {
            _ = try NamedThread(name: "cut") { find() }
        } catch {
            find()
        }
    }

    /// The stretch that a request carries; nil for the whole recording.
    func audio(
        of request: ExchangeRequest, on lane: Int, in journal: Journal, for run: TakeRun
    ) -> StretchAudio? {
        guard let stretch = request.stretch else { return nil }
        if let bytes = run.takeStretch(of: lane) { return StretchAudio(bytes) }
        let format = run.plan.format
        let (start, frames) = (stretch.start, stretch.end.map { $0.frame - stretch.start.frame })
        // The header of the recording stands before its first stretch while that grows.
        // So it does where it was cut while its request was being noted.
        let isBeginning = start.frame == 0 && (frames == nil || !format.isRaw)
        let header = isBeginning ? [] : format.header(ofRaw: frames)
        let offset = isBeginning ? format.bodyOffset : max(start.offset, AudioCodec.pcm.bodyOffset)
        return StretchAudio(journal, from: offset, behind: header) { [weak run] in
            run?.reach(of: stretch) ?? (StretchReach(), 0)
        }
    }

    func hold(_ file: [UInt8]?, of lane: Int, for run: TakeRun) {
        guard file == nil else { return run.hold(stretch: file, of: lane) }
        run.handle(.unsendable(.journal(reason: "a part of it cannot be read")))
    }

    /// The file of a stretch in a form whose units are numbered; nil when it cannot be read.
    func file(of request: ExchangeRequest, for run: TakeRun) -> [UInt8]? {
        guard let journal = run.journal, let stretch = request.stretch, let end = stretch.end else {
            return nil
        }
        let serialNumber = UInt32(
            truncatingIfNeeded: FNV.hash("\(run.id.text)\(stretch.mark)".utf8))
        // The take ends without it.
        return try? run.plan.format.file(
            of: stretch, to: end.offset, in: journal, serialNumber: serialNumber)
    }
}
