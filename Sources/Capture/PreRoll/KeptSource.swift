// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// The device and what is remembered of it, which one thread has at a time: that of the pre-roll, or
/// that of the take which it is lent to.
///
/// `@unchecked Sendable`: it is handed over under the lock of `PreRoll.State`.
final class KeptSource: @unchecked Sendable {
    let source: any CaptureSource
    var format = StreamFormat.speech
    var recent = RecentSamples(capacity: 1)

    init(_ source: any CaptureSource) { self.source = source }

    /// Opens the device; nothing is remembered.
    func open(remembering length: Duration) throws(CaptureError) {
        format = try source.open()
        let frames = Int(length / .milliseconds(1)) * format.sampleRate / 1_000
        recent = RecentSamples(capacity: frames * format.channelCount)
    }
}
