// SPDX-License-Identifier: Apache-2.0

/// Finds the last frame of a FLAC file of ours with a right checksum (RFC 9639 §9.3).
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
        return IntactAudio(byteCount: byteCount, frames: frames, beginning: try newBeginning())
    }

    private var isResuming: Bool { isBroken && frames == 0 && resumption == nil }

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
        (isBroken, byteCount) = (true, 0)
        // Without memory nothing is found, which changes nothing on the disk.
        guard let header = try? FLACEncoder().header else { return }
        // As above.
        reader = try? FLACReader(streamInfo: Array(header[8..<42]), offset: offset)
        reader?.append(rest.span)
    }

    private func readFrames(isLast: Bool) {
        while let reader, !isBroken || isResuming {
            do throws(UndecodableAudio) {
                if let frame = try reader.nextFrame(isLast: isLast) {
                    take(frame)
                } else if !isLast || !isResuming || !reader.skip() {
                    return
                }
            } catch {
                if isBroken {
                    guard reader.skip() else { return }
                } else if frames == 0 {
                    loseBeginning(rest: reader.rest, at: reader.offset)
                } else {
                    isBroken = true
                }
            }
        }
    }

    private func take(_ frame: FLACReader.Frame) {
        if isBroken {
            resumption = frame
        } else if frame.firstSample == frames {
            byteCount = frame.offset + frame.byteCount
            frames += frame.sampleCount
        } else {
            isBroken = true
        }
    }

    private func newBeginning() throws(EncodingError) -> NewBeginning? {
        guard let resumption else { return nil }
        let (count, rest) = resumption.firstSample
            .quotientAndRemainder(dividingBy: FLACEncoder.samplesPerFrame)
        // Where the numbers do not agree, the frames are not ours.
        guard rest == 0, count <= resumption.offset / Self.shortestFrame else { return nil }
        return NewBeginning(
            bytes: try FLACEncoder.beginning(silentFrameCount: count),
            replacedByteCount: resumption.offset, silentFrames: resumption.firstSample)
    }
}
