// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
package import AudioCore
internal import LinuxPlatform

/// Decodes by the program `ffmpeg` what comes in pieces, once it is whole.
///
/// Until then it lies in a file without a name: many forms say at their end where the sound is.
package final class ForeignDecoder: AudioDecoder {
    private let converter: Converter
    private let kind: String
    private let name = "recording"
    private let file: OwnedDescriptor
    private var byteCount = 0
    private var audio: ForeignAudio?

    package init(_ converter: Converter, kind: String, folder: String) throws(UndecodableAudio) {
        (self.converter, self.kind) = (converter, kind)
        do throws(SystemError) {
            file = try makeTemporaryFile(in: folder)
        } catch {
            throw UndecodableAudio("it cannot be kept: \(error.reason)")
        }
    }

    package var format: StreamFormat? { audio?.format }

    package var isAtEnd: Bool { true }

    package var hasMore: Bool { audio.map { $0.frameCountLeft != 0 } ?? false }

    package func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(UndecodableAudio) {
        do throws(SystemError) {
            try writeAll(bytes, to: file.number, at: byteCount)
        } catch {
            throw UndecodableAudio("it cannot be kept: \(error.reason)")
        }
        byteCount += bytes.count
    }

    package func finish(into output: inout [Int16]) throws(UndecodableAudio) {
        do throws(CaptureError) {
            if audio == nil {
                let reader = try ByteReader(descriptor: file.number, name: name, prefix: [])
                audio = try ForeignAudio(converter, reading: reader, kind: kind, name: name)
            }
            guard let audio else { return }
            let period = audio.format.framesPerPeriod
            var block = [Int16](repeating: 0, count: period * audio.format.channelCount)
            // A second at once, so that no hour is in memory.
            for _ in 0..<50 where audio.frameCountLeft != 0 {
                let count = min(try audio.wait(forFrames: period), period)
                var room = block.mutableSpan
                audio.deliver(count, into: &room)
                output += block.prefix(count * audio.format.channelCount)
            }
        } catch {
            guard case .unusableAudio(_, let detail) = error else {
                throw UndecodableAudio(error.description)
            }
            throw UndecodableAudio(detail)
        }
    }
}
