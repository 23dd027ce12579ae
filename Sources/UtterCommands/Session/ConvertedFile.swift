// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Utter

/// A recording in a file of any form: read by us where we can, by the program `ffmpeg` otherwise.
///
/// A source belongs to one capture thread after `open`, which is why `Sendable` is stated
/// unchecked: it is handed over whole and never shared.
final class ConvertedFile: CaptureSource, @unchecked Sendable {
    let name: String
    let isLive = false

    private let pace: Pace
    private var source: any CaptureSource

    /// Names a file; it is opened by `open`.
    init(path: String, pace: Pace) {
        (name, self.pace) = (path, pace)
        source = FileReplay(path: path, pace: pace)
    }

    var isStored: Bool { source.isStored }

    var warning: String? { source.warning }

    func open() throws(CaptureError) -> StreamFormat {
        do throws(CaptureError) {
            return try source.open()
        } catch {
            // A pipe has been read from already.
            guard case .foreignAudio = error, OwnFile.isRegular(name),
                let program = FFmpegDecoder.program
            else { throw error }
            source.close()
            source = FFmpegDecoder(program, .file(name), name: name, pace: pace)
            return try source.open()
        }
    }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        try source.read(into: &frames)
    }

    func appendPollDescriptors(to descriptors: inout [pollfd]) {
        source.appendPollDescriptors(to: &descriptors)
    }

    func requestStop() { source.requestStop() }

    func close() { source.close() }
}
