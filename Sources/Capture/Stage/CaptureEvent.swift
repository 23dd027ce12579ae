// SPDX-License-Identifier: Apache-2.0

package import AudioCore

/// What happens to a recording; told on the capture thread, in order.
package enum CaptureEvent: Sendable {
    /// The source is not open yet, though it has had a second for that.
    case late
    /// The source is open, and delivers this; what was agreed on, if it is a device.
    case opened(StreamFormat, SourceDetails?)
    /// The first frame has come from the source.
    case began
    /// The request to stop was taken back in time: the tail belongs to what follows it.
    case resumed
    /// The signal of a microphone is like this from now on.
    case signal(SignalState)
    /// So many frames of 16 kHz were lost in the source, and are silence now.
    case lost(frames: Int)
    /// A voice was heard, and then none for as long as the plan says.
    case quiet
    /// The last byte went into the ring.
    case ended(CaptureEnd)
}
