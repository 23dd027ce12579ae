// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Glibc
internal import LinuxPlatform

/// Reads a WAV header from an input, and leaves the input at the first sample.
struct WAVHeaderReading {
    let name: String
    /// Waits for a pipe's bytes no longer than this.
    let deadline: ContinuousClock.Instant

    /// Reads the header.
    func header(from reader: inout ByteReader) throws(CaptureError) -> WAVHeader {
        var parser = WAVHeaderParser()
        while true {
            let offset = parser.wantedOffset
            try wait(&reader) { reader throws(SystemError) in try reader.skip(to: offset) }
            let wanted = parser.wantedByteCount
            try wait(&reader) { reader throws(SystemError) in try reader.fill(wanted) }
            let there = min(wanted, reader.byteCount)
            let found: WAVHeader?
            do throws(WAVError) {
                // A chunk may claim to go on far behind the end.
                let end = reader.fileByteCount ?? reader.position + reader.byteCount
                guard end >= offset else { throw .endsInHeader(byteCount: end) }
                found = try reader.withBytes(there) { bytes throws(WAVError) in
                    try parser.take(bytes)
                }
            } catch {
                throw .unusableAudio(name: name, detail: error.description)
            }
            guard let found else { continue }
            try wait(&reader) { reader throws(SystemError) in
                try reader.skip(to: found.dataOffset)
            }
            return found
        }
    }

    /// Repeats `step` until it has its bytes or the input has ended.
    private func wait(
        _ reader: inout ByteReader,
        _ step: (inout ByteReader) throws(SystemError) -> ByteReader.Fill
    ) throws(CaptureError) {
        do throws(SystemError) {
            try reader.wait(until: deadline, for: step)
        } catch {
            throw .cannotOpen(
                name: name,
                reason: error.code == ETIMEDOUT ? "no WAV header came in time" : error.reason)
        }
    }
}
