// SPDX-License-Identifier: Apache-2.0

/// Finds the last frame of a FLAC file of ours with a right checksum (RFC 9639 §9.3), or the first
/// hole before such a frame.
final class FLACRecoverer: AudioRecoverer {
    private static let longestHeader = 1 << 16
    /// No frame of ours is shorter: its head, one sample that stands for all, its checksums.
    private static let shortestFrame = 13
    private var head: [UInt8] = []
    private var reader: FLACReader?
    private var (byteCount, frames) = (0, 0)
    /// Whether a byte was found that is not what it has to be; what follows it cannot be trusted.
    private var isBroken = false
    private var resumption: FLACReader.Frame?

    func append(_ bytes: Span<UInt8>) {
        guard !isBroken || isResuming else { return }
        if let reader {
            reader.append(bytes)
        } else {
            for index in bytes.indices { head.append(bytes[index]) }
            readHeader()
        }
        readFrames(isLast: false)
    }

    func finish() throws(EncodingError) -> IntactAudio {
        readFrames(isLast: true)
        return IntactAudio(byteCount: byteCount, frames: frames, hole: try hole())
    }

    private var isResuming: Bool { isBroken && resumption == nil }

    private func readHeader() {
        var header = FLACHeader()
        do throws(UndecodableAudio) {
            let end = try header.take(head.span)
            guard let info = header.streamInfo, header.isComplete else {
                if head.count > Self.longestHeader { loseBeginning(rest: head, at: 0) }
                return
            }
            // Without its sizes the frames could not be counted.
            guard info.isOfStream else { return loseBeginning(rest: head, at: 0) }
            let reader = try FLACReader(streamInfo: info.bytes, offset: end)
            reader.append(head.span.extracting(droppingFirst: end))
            (self.reader, byteCount) = (reader, end)
        } catch {
            loseBeginning(rest: head, at: 0)
        }
    }

    private func loseBeginning(rest: [UInt8], at offset: Int) {
        isBroken = true
        // Without memory nothing is found, which changes nothing on the disk.
        guard let header = try? FLACEncoder().header else { return }
        // Without memory nothing is found here, either.
        reader = try? FLACReader(streamInfo: Array(header[8..<42]), offset: offset)
        reader?.append(rest.span)
    }

    private func breakOff() {
        guard frames == 0, let reader else { return isBroken = true }
        loseBeginning(rest: reader.rest, at: reader.offset)
    }

    private func readFrames(isLast: Bool) {
        while let reader, !isBroken || isResuming {
            do throws(UndecodableAudio) {
                if let frame = try reader.nextFrame(isLast: isLast) {
                    take(frame)
                } else if isLast, !isBroken {
                    // A torn frame may hide another one behind it.
                    breakOff()
                } else if !isLast || !reader.skip() {
                    return
                }
            } catch {
                if isBroken {
                    guard !reader.isHopeless, reader.skip() else { return }
                } else {
                    breakOff()
                }
            }
        }
    }

    private func take(_ frame: FLACReader.Frame) {
        if frame.firstSample == frames, !isBroken {
            byteCount = frame.offset + frame.byteCount
            frames += frame.sampleCount
        } else {
            (isBroken, resumption) = (true, frame)
        }
    }

    private func hole() throws(EncodingError) -> FileHole? {
        guard let resumption else { return nil }
        let offset = frames == 0 ? 0 : byteCount
        let (first, rest) = frames.quotientAndRemainder(dividingBy: FLACEncoder.samplesPerFrame)
        let (next, nextRest) = resumption.firstSample
            .quotientAndRemainder(dividingBy: FLACEncoder.samplesPerFrame)
        // Where the numbers do not agree, the frames are not ours.
        guard rest == 0, nextRest == 0, first < next || offset == 0 && first == next,
            next - first <= (resumption.offset - offset) / Self.shortestFrame
        else { return nil }
        return FileHole(
            offset: offset, replacedByteCount: resumption.offset - offset,
            bytes: try FLACEncoder.silence(first..<next, withHeader: offset == 0),
            silentFrames: resumption.firstSample - frames)
    }
}
