// SPDX-License-Identifier: Apache-2.0

package import AudioCore

/// What happens to a recording; told on the capture thread, in order.
package enum CaptureEvent: Sendable {
    /// The source is open, and delivers this.
    case opened(StreamFormat)
    /// The first frame has come from the source.
    case began
    /// The request to stop was taken back in time: the tail belongs to what follows it.
    case resumed
    /// The last byte went into the ring.
    case ended(CaptureEnd)
}
