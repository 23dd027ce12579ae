// SPDX-License-Identifier: Apache-2.0

public import AudioCore
public import Capture

/// A sound card, or a sound server's source, through ALSA.
///
/// Takes 16 kHz mono where the device has it and the nearest rate and layout where not; the caller
/// converts. Reads once a period, a period at a time, and counts every frame that is lost.
public final class Microphone: CaptureSource {
    /// The ALSA name of the device, such as "default" or "plughw:CARD=PCH".
    public let name: String

    private let period: Duration
    private var stream: MicrophoneStream?
    static let usualPeriod = Duration.milliseconds(20)

    /// Names a device; opens nothing yet.
    ///
    /// - Parameters:
    ///   - device: an ALSA name, as `DeviceHost.list` gives them.
    ///   - period: how often it is read; the device takes what is nearest. A sample waits half of
    ///     it on average.
    public init(device: String = "default", period: Duration = .milliseconds(20)) {
        name = device
        self.period = period
    }

    /// A microphone does not wait for us.
    public var isLive: Bool { true }

    /// The settings that were agreed on with the open device; nil while it is closed.
    public var details: SourceDetails? { stream?.details }

    /// Opens the device and starts to capture: what is said from now on waits in its ring.
    ///
    /// - Returns: the rate and layout of every frame that `read` will deliver.
    /// - Throws: `deviceNotFound`, `deviceBusy`, `permissionDenied`, `formatRefused` when it has
    ///   no 16-, 24- or 32-bit samples, `deviceUnusable` for anything else.
    public func open() throws(CaptureError) -> StreamFormat {
        let opened = try MicrophoneStream(opening: name, period: period)
        let format = opened.format
        stream = consume opened
        return format
    }

    /// Reads up to the last interrupt; never waits.
    ///
    /// - Returns: `.gap` before the frames that follow it; `.wait` with a deadline, after which
    ///   the next read finds out that the device hangs.
    /// - Throws: `deviceLost` after every frame that could still be read, with the frames since
    ///   the start; `deviceSilent` when nothing came for 5 s, though it was started anew each second,
    ///   or for 10 s before the first frame; `deviceFailed`.
    public func read(
        into frames: inout MutableSpan<Int16>
    ) throws(CaptureError) -> SourceRead {
        try stream?.read(into: &frames) ?? .end
    }

    /// Whether all whole periods have been read.
    public var isDrained: Bool { stream?.leavesNothing ?? false }

    /// Adds the descriptors of the PCM, one for a card.
    public func addDescriptors(to events: inout PolledDescriptors) {
        stream?.addDescriptors(to: &events)
    }

    /// Asks the PCM whether its descriptors mean frames, an overrun or the end.
    public func isReady(_ events: PolledDescriptors) -> Bool {
        stream?.isReady(events) ?? true
    }

    /// Ends the take with the last frame that the card has captured at this moment.
    ///
    /// `read` delivers everything up to it, without waiting for another period.
    public func requestStop() {
        stream?.requestStop()
    }

    /// Stops and closes the device.
    ///
    /// Idempotent. Must not be left out, or the card stays busy.
    public func close() {
        stream = nil
    }
}

extension Microphone: KeptSource {
    /// Goes on with the card, which has not stopped.
    package func takeBackStop() { stream?.takeBackStop() }
}
